#include "measure/roofline_report.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {

using namespace headroom::laws;
using namespace headroom::measure;

namespace {

constexpr double margin = 4.0; ///< factor around what is drawn
constexpr int samples_an_octave = 2;

struct Window {
    double low = 1.0 / 16.0, high = 16.0;
    void hold(double intensity) {
        if (!(intensity > 0.0) || !std::isfinite(intensity)) { return; }
        low = std::min(low, intensity / margin);
        high = std::max(high, intensity * margin);
    }
};

Series roof(std::string name, Mark mark, double peak, double bandwidth, Window window) {
    Series line{.name = std::move(name), .mark = mark};
    int const steps = std::max(1, static_cast<int>(std::ceil(samples_an_octave * std::log2(window.high / window.low))));
    for (int i = 0; i <= steps; ++i) {
        line.x.push_back(window.low * std::pow(window.high / window.low, static_cast<double>(i) / steps));
    }
    double const corner = peak / bandwidth;
    if (corner > window.low && corner < window.high) {
        line.x.insert(std::ranges::upper_bound(line.x, corner), corner);
    }
    for (double const x : line.x) {
        line.y.push_back(attainable_rate(FlopsPerByte{x}, FlopsPerSecond{peak}, BytesPerSecond{bandwidth}).base());
    }
    return line;
}

Series points_of(MeasuredRoofline const& roofline, int threads) {
    Series points{.name = "kernels, measured", .mark = Mark::points};
    for (MeasuredKernel const& kernel : roofline.kernels) {
        if (kernel.figure->threads != threads) { continue; }
        points.x.push_back(kernel.intensity);
        points.y.push_back(kernel.figure->summary.median);
        points.low.push_back(kernel.figure->summary.low);
        points.high.push_back(kernel.figure->summary.high);
        points.labels.push_back(kernel.figure->of("kernel"));
    }
    return points;
}

} // namespace

/// Roofs of fp32, which the kernels compute in; of another precision where that was not asked for.
Chart measured_chart(MeasuredRooflineReport const& report, int threads) {
    MeasuredRoofline const& roofline = report.roofline;
    auto const levels = roofline.levels(threads);
    Chart chart{.title = "Measured roofline, " + cores_words(threads),
                .caption =
                    "Each slope is the bandwidth of a level of memory, each flat part a peak; a kernel belongs under "
                    "the slope of the level in which its data live.",
                .x = {"operations a byte", AxisScale::logarithmic},
                .y = {"FLOP/s", AxisScale::logarithmic},
                .series = {}};
    MeasuredPeak const* peak = roofline.peak("fp32", threads);
    for (MeasuredPeak const& one : roofline.peaks) {
        if (peak == nullptr && one.threads == threads) { peak = &one; }
    }
    if (peak == nullptr || levels.empty()) { return chart; }
    double const rate = peak->roof->summary.median;
    Window window;
    for (MeasuredFigure const* level : levels) { window.hold(rate / level->summary.median); }
    Series points = points_of(roofline, threads);
    for (double const x : points.x) { window.hold(x); }
    for (MeasuredFigure const* level : levels) {
        chart.series.push_back(
            roof(peak->precision + " over " + level->of("level"), Mark::smooth, rate, level->summary.median, window));
    }
    for (MeasuredPeak const& one : roofline.peaks) {
        if (one.threads != threads || one.precision == peak->precision) { continue; }
        chart.series.push_back(roof(one.precision + " over " + levels.back()->of("level"), Mark::dashed,
                                    one.roof->summary.median, levels.back()->summary.median, window));
    }
    if (!points.x.empty()) { chart.series.push_back(std::move(points)); }
    chart.rules.push_back({true, rate / levels.back()->summary.median, "ridge"});
    return chart;
}

} // namespace headroom::cli
