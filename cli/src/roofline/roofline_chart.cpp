#include "roofline/roofline_report.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr std::size_t most_points = 12;
constexpr double same_place = 1e-6;
constexpr double margin = 4.0;      ///< factor around what is drawn
constexpr double around_ridge = 64; ///< factor that is drawn at least on either side of the ridge

struct Window {
    double low, high;
};

/// Intensities from the leftmost kernel to the rightmost, the ridge well inside.
Window window_of(RooflineAnswer const& report) {
    double const ridge = report.ridge.base();
    Window window{ridge / around_ridge, ridge * around_ridge / 4.0};
    for (RooflineRow const& row : report.rows) {
        double const intensity = row.at.intensity.base();
        if (!(intensity > 0.0) || !std::isfinite(intensity)) { continue; }
        window.low = std::min(window.low, intensity / margin);
        window.high = std::max(window.high, intensity * margin);
    }
    for (auto const& ceiling : report.ceilings) { // every corner of the roof is in the picture
        if (!ceiling.level || ceiling.kind != CeilingKind::datasheet) { continue; }
        FlopsPerSecond const peak = report.processor().peak[report.question.format];
        window.low = std::min(window.low, ridge_point(peak, ceiling.bandwidth).base() / margin);
    }
    return window;
}

Series roof(std::string name, Mark mark, FlopsPerSecond peak, BytesPerSecond bandwidth, Window window) {
    return roof_line(std::move(name), mark, peak, bandwidth, window.low, window.high);
}

/// A flat ceiling begins where main memory reaches it, a sloped one ends where it reaches the peak.
Series lowered(Ceiling const& ceiling, RooflineAnswer const& report, Window window) {
    FlopsPerSecond const peak = report.processor().peak[report.question.format];
    BytesPerSecond const memory = report.processor().memory().bandwidth;
    if (ceiling.level) {
        window.high = std::clamp(ridge_point(peak, ceiling.bandwidth).base(), window.low, window.high);
        return roof(ceiling.name, Mark::dashed, peak, ceiling.bandwidth, window);
    }
    window.low = std::clamp(ridge_point(ceiling.rate, memory).base(), window.low, window.high);
    return roof(ceiling.name, Mark::dashed, ceiling.rate, memory, window);
}

bool is_drawn_below(Ceiling const& ceiling, NumberFormat format) {
    return ceiling.kind != CeilingKind::datasheet && ceiling.of_roof < 1.0 &&
           (ceiling.level || ceiling.format == format);
}

/// Formats of the kernels, that of the question first.
std::vector<NumberFormat> formats_of(RooflineAnswer const& report) {
    std::vector<NumberFormat> formats{report.question.format};
    for (std::size_t const i : rows_by_time(report, most_points)) {
        NumberFormat const format = report.rows[i].of.kernel.format;
        if (std::ranges::find(formats, format) == formats.end()) { formats.push_back(format); }
    }
    return formats;
}

/// Rate of a kernel: in a step as it is predicted, below the roof; else what the roof allows.
double rate_of(RooflineRow const& row) {
    bool const predicted = row.in_step && row.of.predicted > Seconds{};
    return row.at.rate.base() * (predicted ? row.at.time / row.of.predicted : 1.0);
}

/// Kernels in one place are one point: those of a step by the key of the first, as in the table, others by their names.
Series points_of(RooflineAnswer const& report) {
    Series points{.name = report.step ? "kernels, predicted" : "kernels", .mark = Mark::points};
    auto const order = rows_by_time(report, most_points);
    for (std::size_t place = 0; place < order.size(); ++place) {
        RooflineRow const& row = report.rows[order[place]];
        double const x = row.at.intensity.base(), y = rate_of(row);
        if (!(x > 0.0) || !std::isfinite(x)) { continue; }
        std::string const name = report.step ? mark_of(place) : row.of.name;
        std::size_t at = 0;
        while (at < points.x.size() &&
               (std::abs(points.x[at] / x - 1.0) > same_place || std::abs(points.y[at] / y - 1.0) > same_place)) {
            ++at;
        }
        if (at == points.x.size()) {
            points.x.push_back(x);
            points.y.push_back(y);
            points.labels.push_back(name);
        } else if (!report.step && points.labels[at].find(name) == std::string::npos) {
            points.labels[at] += ", " + name;
        }
    }
    return points;
}

} // namespace

Series roof_line(std::string name, Mark mark, FlopsPerSecond peak, BytesPerSecond bandwidth, double low, double high) {
    constexpr int samples_an_octave = 2;
    Series line{.name = std::move(name), .mark = mark};
    if (!(low > 0.0) || !(high >= low) || !std::isfinite(high / low)) { return line; }
    auto& xs = line.x;
    int const steps = std::max(1, static_cast<int>(std::ceil(samples_an_octave * std::log2(high / low))));
    for (int i = 0; i <= steps; ++i) { xs.push_back(low * std::pow(high / low, static_cast<double>(i) / steps)); }
    xs.front() = low;
    xs.back() = high;
    double const corner = ridge_point(peak, bandwidth).base();
    if (corner > low && corner < high) { xs.insert(std::ranges::upper_bound(xs, corner), corner); }
    for (double const x : xs) { line.y.push_back(attainable_rate(FlopsPerByte{x}, peak, bandwidth).base()); }
    return line;
}

Chart chart_of(RooflineAnswer const& report) {
    Processor const& processor = report.processor();
    Window const window = window_of(report);
    auto const formats = formats_of(report);
    Chart chart{.title = "Roofline of " + processor.name,
                .caption = "",
                .x = {"operations a byte", AxisScale::logarithmic},
                .y = {"FLOP/s", AxisScale::logarithmic}};
    for (std::size_t i = 0; i < processor.levels.size(); ++i) {
        auto const& level = processor.levels[i];
        std::string const name = std::string{name_of(formats.front())} + " over " + level.name;
        chart.series.push_back(roof(name, Mark::smooth, processor.peak[formats.front()], level.bandwidth, window));
    }
    for (std::size_t i = 1; i < formats.size(); ++i) {
        std::string const name = std::string{name_of(formats[i])} + " over " + processor.memory().name;
        chart.series.push_back(
            roof(name, Mark::smooth, processor.peak[formats[i]], processor.memory().bandwidth, window));
    }
    for (Ceiling const& ceiling : report.ceilings) {
        if (is_drawn_below(ceiling, report.question.format)) {
            chart.series.push_back(lowered(ceiling, report, window));
        }
    }
    Series points = points_of(report);
    chart.caption = "Kernels left of the ridge wait for memory, those right of it for arithmetic; the distance to the "
                    "dashed lines is what the code leaves.";
    if (report.step) {
        chart.caption +=
            " A point is the predicted rate: the roof above it is what the accelerator allows. Letters are "
            "the keys of the table above; of kernels in one place the first is named.";
    }
    if (!points.x.empty()) { chart.series.push_back(std::move(points)); }
    chart.rules.push_back({true, report.ridge.base(), "ridge"});
    return chart;
}

} // namespace headroom::cli
