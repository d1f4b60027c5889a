#include "laws/laws_fit.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {
namespace {

/// The unit in which times read best: that of the largest that was measured.
struct TimeUnit {
    char const* name;
    double seconds;
};
TimeUnit unit_of(FitAnswer const& answer) {
    constexpr std::array<TimeUnit, 4> units{{{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
    bool const times = answer.data.measured == fit::Measured::seconds || answer.data.measured == fit::Measured::sync;
    if (!times) { return {"", 1.0}; }
    double const largest = std::ranges::max_element(answer.data.samples, {}, &fit::ScalingSample::value)->value;
    for (TimeUnit const& unit : units) {
        if (largest >= unit.seconds) { return unit; }
    }
    return units.back();
}

Series points_series(FitAnswer const& answer) {
    Series series{.name = "measured", .mark = Mark::points};
    for (fit::ScalingSample const& sample : answer.data.samples) {
        series.x.push_back(sample.workers);
        series.y.push_back(sample.value);
    }
    return series;
}

/// The law between the smallest and the largest count that is shown.
Series curve_series(FitAnswer const& answer, double first, double last) {
    Series series{.name = answer.best().law->name, .mark = Mark::smooth};
    constexpr int steps = 64;
    for (int i = 0; i <= steps; ++i) {
        double const k = first * std::pow(last / first, static_cast<double>(i) / steps);
        double const value = fit::curve_at(answer.best(), answer.data, k);
        if (!(value > 0.0) || !std::isfinite(value)) { continue; } // logarithmic axes
        series.x.push_back(k);
        series.y.push_back(value);
    }
    return series;
}

std::optional<Series> band_series(FitAnswer const& answer) {
    Series series{.name = fit::share_words(answer.question.coverage) + " band of the curve", .mark = Mark::band};
    for (fit::ScalingPrediction const& row : answer.report.predictions) {
        if (!row.curve_low || !row.curve_high || !(*row.curve_low > 0.0)) { continue; }
        series.x.push_back(row.workers);
        series.y.push_back(row.value);
        series.low.push_back(*row.curve_low);
        series.high.push_back(*row.curve_high);
    }
    if (series.x.size() < 2) { return std::nullopt; }
    return series;
}

/// Ideal line: every worker adds, or takes off, as much as the first. It goes from the centre at the smallest count, and no further
/// than a little beyond what is drawn anyway.
std::optional<Series> ideal_series(FitAnswer const& answer, double last) {
    if (!answer.of_steps()) { return std::nullopt; }
    std::vector<fit::ScalingSample> const centres = fit::measured_centres(answer.data);
    fit::ScalingSample const first = centres.front();
    if (!fit::is_rate(answer.data.measured) && answer.data.scaling == fit::Scaling::weak) {
        return Series{
            .name = "ideal", .mark = Mark::dashed, .x = {first.workers, last}, .y = {first.value, first.value}};
    }
    auto const [least, most] = std::ranges::minmax_element(centres, {}, &fit::ScalingSample::value);
    bool const rate = fit::is_rate(answer.data.measured);
    double const room = rate ? 3.0 * most->value / first.value : 3.0 * first.value / least->value;
    double const more = std::min(last / first.workers, std::max(2.0, room));
    return Series{.name = "ideal",
                  .mark = Mark::dashed,
                  .x = {first.workers, first.workers * more},
                  .y = {first.value, rate ? first.value * more : first.value / more}};
}

std::string axis_title(FitAnswer const& answer) {
    switch (answer.data.measured) {
    case fit::Measured::seconds: return std::string{"step "} + unit_of(answer).name;
    case fit::Measured::sync: return std::string{"synchronisation "} + unit_of(answer).name;
    case fit::Measured::speedup: return "speedup";
    case fit::Measured::throughput:
        return "throughput" + (answer.table.unit.empty() ? std::string{} : " " + printable(answer.table.unit));
    case fit::Measured::value: break;
    }
    return printable(answer.table.value_column);
}

std::string caption_words(FitAnswer const& answer) {
    std::string text = "Points are measurements, the line is " + answer.best().formula;
    if (answer.of_steps()) { text += ", the dashed line what workers would give if nothing were lost"; }
    double const last = answer.largest_measured();
    return text + ". Beyond " + whole(last) + " workers nothing was measured.";
}

void add_rules(FitAnswer const& answer, double first, double last, Chart& chart) {
    fit::LawFit const& best = answer.best();
    if (best.ceiling_value && !best.peak_workers) {
        chart.rules.push_back({.vertical = false,
                               .at = *best.ceiling_value,
                               .label = (fit::is_rate(answer.data.measured) ? "ceiling " : "least time ") +
                                        value_words(answer, *best.ceiling_value)});
    }
    if (best.peak_workers && *best.peak_workers >= first && *best.peak_workers <= last) {
        chart.rules.push_back(
            {.vertical = true, .at = *best.peak_workers, .label = "peak at " + significant(*best.peak_workers)});
    } else if (auto const knee = knee_of(answer)) {
        chart.rules.push_back({.vertical = true, .at = *knee, .label = "knee at " + significant(*knee)});
    }
}

/// Every height in another unit.
void rescale(Chart& chart, double unit) {
    for (Series& series : chart.series) {
        for (std::vector<double>* values : {&series.y, &series.low, &series.high}) {
            for (double& value : *values) { value /= unit; }
        }
    }
    for (Rule& rule : chart.rules) {
        if (!rule.vertical) { rule.at /= unit; }
    }
}

} // namespace

Chart fit_chart(FitAnswer const& answer) {
    double first = answer.data.samples.front().workers, last = answer.largest_measured();
    for (fit::ScalingSample const& sample : answer.data.samples) { first = std::min(first, sample.workers); }
    for (fit::ScalingPrediction const& row : answer.report.predictions) {
        first = std::min(first, row.workers);
        last = std::max(last, row.workers);
    }
    Chart chart{.title = "Measured and fitted",
                .caption = caption_words(answer),
                .x = {"workers", AxisScale::logarithmic},
                .y = {axis_title(answer), answer.of_steps() ? AxisScale::logarithmic : AxisScale::linear}};
    chart.series.push_back(points_series(answer));
    chart.series.push_back(curve_series(answer, first, last));
    if (auto band = band_series(answer)) { chart.series.push_back(std::move(*band)); }
    if (auto ideal = ideal_series(answer, last)) { chart.series.push_back(std::move(*ideal)); }
    add_rules(answer, first, last, chart);
    rescale(chart, unit_of(answer).seconds);
    return chart;
}

} // namespace headroom::cli
