#include "tail/tail_report.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr int steps_per_decade = 16, cdf_steps = 200;

std::string value_title(TailAnswer const& answer, TailScale scale) {
    std::string const name = answer.set.sources.front().steps ? "step" : answer.set.times ? "latency" : "value";
    return scale.size == 1.0 && !answer.set.times ? name : name + " " + scale.name;
}

TailScale scale_of(TailAnswer const& answer) {
    return scale_for(std::max(answer.set.values.quantile(0.5), 1e-12), unit_of(answer));
}

/// Logarithmic where the tail is far from the body.
AxisScale axis_of(LatencyHistogram const& values) {
    bool const far = values.quantile(0.01) > 0.0 && values.most() > 5.0 * values.quantile(0.5);
    return far ? AxisScale::logarithmic : AxisScale::linear;
}

/// Values over how rare they are: one in 1/(1 - q) is greater.
Series hdr_series(std::string name, Mark mark, LatencyHistogram const& values, TailScale scale) {
    Series series{.name = std::move(name), .mark = mark};
    auto const count = static_cast<double>(values.count());
    for (int step = 0; step <= 16 * steps_per_decade; ++step) {
        double const one_in = std::pow(10.0, static_cast<double>(step) / steps_per_decade);
        if (one_in > count) { break; }
        double const value = step == 0 ? values.least() : values.quantile(1.0 - 1.0 / one_in);
        series.x.push_back(one_in);
        series.y.push_back(value / scale.size);
    }
    return series;
}

/// The intervals of the percentiles, as far as both ends are known.
Series interval_series(TailAnswer const& answer, TailScale scale) {
    Series series{.name = interval_title(answer.question.coverage), .mark = Mark::band};
    auto const count = static_cast<double>(answer.set.values.count());
    for (int step = 1; step <= 16 * steps_per_decade; ++step) {
        double const one_in = std::pow(10.0, static_cast<double>(step) / steps_per_decade);
        if (one_in > count) { break; }
        QuantileEstimate const found = quantile_estimate(
            answer.set.values, 1.0 - 1.0 / one_in, answer.question.coverage, answer.set.worth.at(1.0 - 1.0 / one_in));
        if (!found.low || !found.high) { continue; }
        series.x.push_back(one_in);
        series.y.push_back(found.value / scale.size);
        series.low.push_back(*found.low / scale.size);
        series.high.push_back(*found.high / scale.size);
    }
    return series;
}

Chart hdr_chart(TailAnswer const& answer) {
    TailScale const scale = scale_of(answer);
    Chart chart{.title = "How slow the slowest are",
                .caption =
                    "To the right ever rarer ones: at 100 the one in a hundred, p99. What bends upwards there is "
                    "a tail of its own.",
                .x = {"one in N", AxisScale::logarithmic},
                .y = {value_title(answer, scale), axis_of(answer.set.values)}};
    chart.series.push_back(hdr_series("measured", Mark::smooth, answer.set.values, scale));
    if (Series band = interval_series(answer, scale); band.x.size() > 1) { chart.series.push_back(std::move(band)); }
    if (answer.set.corrected) {
        chart.series.push_back(hdr_series("corrected", Mark::smooth, *answer.set.corrected, scale));
    }
    if (answer.comparison) {
        chart.series.push_back(hdr_series("baseline", Mark::dashed, answer.comparison->baseline.values, scale));
    }
    for (double const one_in : {10.0, 100.0, 1e3, 1e4, 1e5}) {
        if (one_in < static_cast<double>(answer.set.values.count())) {
            chart.rules.push_back({.vertical = true, .at = one_in, .label = percentile_name(1.0 - 1.0 / one_in)});
        }
    }
    return chart;
}

Series cdf_series(std::string name, Mark mark, LatencyHistogram const& values, TailScale scale) {
    Series series{.name = std::move(name), .mark = mark};
    for (int step = 0; step <= cdf_steps; ++step) {
        double const q = static_cast<double>(step) / cdf_steps;
        double const value = step == 0 ? values.least() : values.quantile(q);
        series.x.push_back(value / scale.size);
        series.y.push_back(100.0 * q);
    }
    return series;
}

Chart cdf_chart(TailAnswer const& answer) {
    TailScale const scale = scale_of(answer);
    Chart chart{.title = "How many are faster",
                .caption =
                    "Share of all that take no longer. Steps are ways that requests can take: a cache that hits or "
                    "misses, a retry.",
                .x = {value_title(answer, scale), axis_of(answer.set.values)},
                .y = {"% no longer"}};
    chart.series.push_back(cdf_series("measured", Mark::smooth, answer.set.values, scale));
    if (answer.set.corrected) {
        chart.series.push_back(cdf_series("corrected", Mark::smooth, *answer.set.corrected, scale));
    }
    if (answer.comparison) {
        chart.series.push_back(cdf_series("baseline", Mark::dashed, answer.comparison->baseline.values, scale));
    }
    return chart;
}

Chart fan_out_chart(TailAnswer const& answer) {
    TailScale const scale = scale_of(answer);
    Series half{.name = "p50", .mark = Mark::line}, rare{.name = "p99", .mark = Mark::line},
        fitted{.name = "p99 fitted", .mark = Mark::dashed};
    for (TailFanOut const& row : answer.fan_outs) {
        double const workers = row.seen.workers.count();
        half.x.push_back(workers);
        half.y.push_back(row.seen.p50 / scale.size);
        if (!row.seen.p99_beyond_samples) {
            rare.x.push_back(workers);
            rare.y.push_back(row.seen.p99 / scale.size);
        }
        if (row.fitted && std::isfinite(row.fitted->p99)) {
            fitted.x.push_back(workers);
            fitted.y.push_back(row.fitted->p99 / scale.size);
        }
    }
    Chart chart{.title = "How long the slowest of K takes",
                .caption = "Workers that are independent and alike. Where a p99 rests on no sample it is left out.",
                .x = {"workers", AxisScale::logarithmic},
                .y = {value_title(answer, scale), axis_of(answer.set.values)}};
    for (Series* series : {&half, &rare, &fitted}) {
        if (!series->x.empty()) { chart.series.push_back(std::move(*series)); }
    }
    return chart;
}

Chart hedging_chart(TailAnswer const& answer) {
    TailScale const scale = scale_of(answer);
    Series rare{.name = "p99", .mark = Mark::line}, rarer{.name = "p99.9", .mark = Mark::line};
    for (Hedge const& one : answer.hedging->delays) {
        rare.x.push_back(100.0 * one.extra_load);
        rare.y.push_back(one.p99 / scale.size);
        rare.labels.push_back(one.delay > 0.0 ? "after " + unit_of(answer).words(one.delay) : "at once");
        rarer.x.push_back(100.0 * one.extra_load);
        rarer.y.push_back(one.p999 / scale.size);
    }
    return {.title = "What second copies buy",
            .caption = "From right to left copies wait longer before they are sent, and fewer are.",
            .x = {"% of requests sent twice"},
            .y = {value_title(answer, scale), axis_of(answer.set.values)},
            .series = {std::move(rare), std::move(rarer)}};
}

/// Latency over load with the replicas that there are: how far from the bend they stand.
Chart load_chart(ReplicasForSlo const& slo, int replicas, TailUnit unit) {
    std::vector<double> utilizations;
    for (int step = 1; step < 50; ++step) { utilizations.push_back(0.02 * step); }
    QueueShape const shape{.servers = replicas};
    auto const curve = load_curve(slo.load, shape, utilizations);
    TailScale const scale = scale_for(slo.load.service.base(), unit);
    Series mean{.name = "mean", .mark = Mark::smooth};
    for (LoadPoint const& point : curve) {
        mean.x.push_back(point.arrivals_per_second);
        mean.y.push_back(point.answer.latency.base() / scale.size);
    }
    Chart chart{.title = "Load and latency of " + counted(static_cast<std::size_t>(replicas), "replica"),
                .caption = "By formula. The knee is where throughput over latency is greatest.",
                .x = {"requests/s"},
                .y = {std::string{"mean latency "} + scale.name},
                .series = {std::move(mean)}};
    chart.rules.push_back({.vertical = true, .at = slo.load.arrivals_per_second, .label = "now"});
    chart.rules.push_back({.vertical = true, .at = knee(slo.load, shape).arrivals_per_second, .label = "knee"});
    return chart;
}

/// Whether there is more to draw than the table has: samples that differ, and more than a few.
bool vary(TailAnswer const& answer) {
    constexpr std::uint64_t fewest = 10;
    auto const& values = answer.set.values;
    return answer.has_samples() && values.count() >= fewest && values.least() < values.most();
}

} // namespace

std::vector<Chart> sample_charts(TailAnswer const& answer) {
    if (!vary(answer)) { return {}; }
    return {hdr_chart(answer), cdf_chart(answer)};
}

std::vector<Chart> fan_out_charts(TailAnswer const& answer) {
    if (!vary(answer) || answer.fan_outs.size() < 2) { return {}; }
    return {fan_out_chart(answer)};
}

std::vector<Chart> hedging_charts(TailAnswer const& answer) {
    if (!vary(answer) || answer.hedging->delays.size() < 2) { return {}; }
    return {hedging_chart(answer)};
}

std::vector<Chart> replica_charts(TailAnswer const& answer) {
    if (!answer.has_samples() || !answer.slo || !answer.slo->answered()) { return {}; }
    auto const replicas = answer.question.replicas ? answer.question.replicas : answer.slo->replicas();
    if (!replicas) { return {}; }
    return {load_chart(*answer.slo, *replicas, unit_of(answer))};
}

} // namespace headroom::cli
