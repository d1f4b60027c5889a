#include "inference/inference_report.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace headroom::cli {
namespace {

/// Empty series of these names, one after the other: where memory ends g++ 12 destroys elements of a list twice.
std::vector<Series> named(std::initializer_list<char const*> names) {
    std::vector<Series> all;
    for (char const* name : names) { all.emplace_back().name = name; }
    return all;
}

constexpr double in_milliseconds = 1e3;

void add(Series& series, double x, std::optional<double> seconds) {
    if (!seconds || !(*seconds > 0.0)) { return; }
    series.x.push_back(x);
    series.y.push_back(*seconds * in_milliseconds);
}

/// Times over the rate at which requests come.
Chart load_chart(InferenceAnswer const& report) {
    Chart chart{.title = "What load does to the wait",
                .caption =
                    "The first token waits for room in the batch and for the prompts before; every further one for the "
                    "iterations, which grow with the batch. Beyond the capacity lines grow for as long as it lasts.",
                .x = {"requests/s"},
                .y = {"ms", AxisScale::logarithmic}};
    chart.series = named({"first token, p99", "first token, p50", "per token, p99", "per token, p50"});
    for (LoadRow const& row : report.load) {
        add(chart.series[0], row.requests_per_second, quantile_of(row.result.first_token, 0.99));
        add(chart.series[1], row.requests_per_second, quantile_of(row.result.first_token, 0.5));
        add(chart.series[2], row.requests_per_second, quantile_of(row.result.per_token, 0.99));
        add(chart.series[3], row.requests_per_second, quantile_of(row.result.per_token, 0.5));
    }
    std::erase_if(chart.series, [](Series const& one) { return one.x.empty(); });
    chart.rules.push_back({true, report.question.arrivals(), "asked"});
    if (report.capacity > 0.0) { chart.rules.push_back({true, report.capacity, "capacity"}); }
    return chart;
}

/// Requests in time over those that come.
Chart goodput_chart(InferenceAnswer const& report) {
    Chart chart{.title = "Requests in time",
                .caption = "Up to the knee nearly every request is in time; behind it more work makes fewer of them.",
                .x = {"requests/s"},
                .y = {"in time/s"}};
    chart.series = named({"goodput", "all of them"});
    chart.series[1].mark = Mark::dashed;
    for (LoadRow const& row : report.load) {
        chart.series[0].x.push_back(row.requests_per_second);
        chart.series[0].y.push_back(row.result.goodput_per_second);
        chart.series[1].x.push_back(row.requests_per_second);
        chart.series[1].y.push_back(row.requests_per_second);
    }
    if (report.knee) { chart.rules.push_back({true, *report.knee, "objectives kept"}); }
    return chart;
}

/// Chart of a larger batch: throughput against the latency of each user.
Chart batch_chart(InferenceAnswer const& report) {
    Chart chart{.title = "Throughput against latency",
                .caption =
                    "Each point is a batch: more sequences share the reading of weights, and wait for each other's.",
                .x = {"output tokens/s a replica", AxisScale::logarithmic},
                .y = {"ms a token", AxisScale::logarithmic}};
    chart.series = named({"batch"});
    for (DecodeRow const& row : report.decode) {
        add(chart.series[0], row.tokens_per_second, row.time.total.base());
        chart.series[0].labels.push_back(std::to_string(row.batch));
    }
    if (auto const limit = report.question.experiment.objectives.per_token) {
        chart.rules.push_back({false, limit->in(units::ms), "objective"});
    }
    return chart;
}

/// Operations over bytes of a decode iteration, under the roof of the accelerator.
Chart roofline_chart(InferenceAnswer const& report) {
    Accelerator const& chip = report.question.cluster.accelerator;
    double const peak = peak_rate(chip, report.row()->plan.weights).base(), bandwidth = chip.memory_bandwidth.base();
    Chart chart{
        .title = "Roofline of decoding",
        .caption = "A batch of one reads every weight for one token. More sequences move right, until their own caches "
                   "are what is read; the distance to the roof is what constants, exchanges and gaps take.",
        .x = {"operations a byte", AxisScale::logarithmic},
        .y = {"FLOP/s of an accelerator", AxisScale::logarithmic}};
    chart.series = named({"batch", "roof"});
    chart.series[0].mark = Mark::points, chart.series[1].mark = Mark::smooth;
    Series &points = chart.series[0], &roof = chart.series[1];
    for (DecodeRow const& row : report.decode) {
        if (!(row.time.read > Bytes{}) || !(row.time.flops > Flops{})) { continue; }
        points.x.push_back((row.time.flops / row.time.read).base());
        points.y.push_back((row.time.flops / row.time.total).base());
        points.labels.push_back(std::to_string(row.batch));
    }
    if (points.x.empty() || !(peak > 0.0)) { return chart; }
    double const ridge = peak / bandwidth, least = *std::ranges::min_element(points.x) / 2.0;
    double const most = 4.0 * std::max(ridge, *std::ranges::max_element(points.x));
    constexpr int samples = 60;
    for (int i = 0; i <= samples; ++i) {
        double const x = least * std::pow(most / least, static_cast<double>(i) / samples);
        roof.x.push_back(x);
        roof.y.push_back(std::min(peak, x * bandwidth));
    }
    chart.rules.push_back({true, ridge, "ridge"});
    return chart;
}

} // namespace

std::vector<Chart> charts_of(InferenceAnswer const& report, bool page) {
    std::vector<Chart> charts;
    if (!report.load.empty()) { charts.push_back(load_chart(report)); }
    if (!report.load.empty() && page) { charts.push_back(goodput_chart(report)); }
    if (!report.decode.empty() && (page || report.load.empty())) { charts.push_back(batch_chart(report)); }
    if (!report.decode.empty() && page) { charts.push_back(roofline_chart(report)); }
    return charts;
}

} // namespace headroom::cli
