#include "laws_fit_report.hpp"
#include "text.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

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
    Series series{.name = percent(answer.question.coverage) + " % band of the curve", .mark = Mark::band};
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

/// What every worker would add, or take off, if nothing were lost: from the mean at the smallest count.
std::optional<Series> ideal_series(FitAnswer const& answer, double last) {
    if (!answer.of_steps()) { return std::nullopt; }
    fit::ScalingSample const first = fit::means_of(answer.data.samples).front();
    bool const rate = fit::is_rate(answer.data.measured), weak = answer.data.scaling == fit::Scaling::weak;
    double const more = last / first.workers, end = rate ? more : weak ? 1.0 : 1.0 / more;
    return Series{
        .name = "ideal", .mark = Mark::dashed, .x = {first.workers, last}, .y = {first.value, first.value * end}};
}

std::string axis_title(FitAnswer const& answer) {
    switch (answer.data.measured) {
    case fit::Measured::seconds: return "step s";
    case fit::Measured::sync: return "synchronisation s";
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
        chart.rules.push_back({.vertical = false, .at = *best.ceiling_value, .label = "ceiling"});
    }
    if (best.peak_workers && *best.peak_workers >= first && *best.peak_workers <= last) {
        chart.rules.push_back({.vertical = true, .at = *best.peak_workers, .label = "peak"});
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
                .y = {axis_title(answer), answer.of_steps() ? AxisScale::logarithmic : AxisScale::linear},
                .series = {}};
    chart.series.push_back(points_series(answer));
    chart.series.push_back(curve_series(answer, first, last));
    if (auto band = band_series(answer)) { chart.series.push_back(std::move(*band)); }
    if (auto ideal = ideal_series(answer, last)) { chart.series.push_back(std::move(*ideal)); }
    add_rules(answer, first, last, chart);
    return chart;
}

} // namespace headroom::cli
