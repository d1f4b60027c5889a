#include "queue/queue_report.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

/// A series over rows that settle.
Series series_of(std::string name, Mark mark, std::vector<QueueRow> const& rows, double (*x)(QueueRow const&),
                 Seconds (*y)(QueueRow const&)) {
    Series series{.name = std::move(name), .mark = mark};
    for (QueueRow const& row : rows) {
        if (!row.answer.stable || row.answer.throughput_per_second <= 0.0) { continue; }
        series.x.push_back(x(row));
        series.y.push_back(y(row).in(units::ms));
    }
    return series;
}

Seconds p99_of(QueueRow const& row) { return row.p99(); }
Seconds p50_of(QueueRow const& row) { return row.p50(); }
Seconds mean_of(QueueRow const& row) { return row.answer.latency; }
double load_of(QueueRow const& row) { return row.arrivals_per_second; }
double count_of(QueueRow const& row) { return row.replicas; }

Chart load_chart(QueueReport const& report) {
    Chart chart{.title = "Latency over load, " + replicas_words(report.answer.replicas),
                .caption =
                    "Flat while replicas are free, steep when they are not: to the right of the knee a little more "
                    "load is much more latency.",
                .x = {"requests a second", AxisScale::linear},
                .y = {"latency ms", AxisScale::logarithmic}};
    // one by one: g++ 12 destroys an element of a list twice where one behind it throws
    chart.series.push_back(series_of("p99", Mark::line, report.curve, load_of, p99_of));
    chart.series.push_back(series_of("mean", Mark::line, report.curve, load_of, mean_of));
    chart.series.push_back(series_of("p50", Mark::line, report.curve, load_of, p50_of));
    if (report.knee) { chart.rules.push_back({true, report.knee->arrivals_per_second, "knee"}); }
    if (report.answer.arrivals_per_second <= report.curve.back().arrivals_per_second) {
        chart.rules.push_back({true, report.answer.arrivals_per_second, "now"});
    }
    if (report.question.objective) {
        chart.rules.push_back({false, report.question.objective->latency.in(units::ms), "objective"});
    }
    return chart;
}

/// Counts that lie near each other would be squeezed together on a logarithmic axis.
AxisScale replicas_scale(QueueReport const& report) {
    auto const [fewest, most] = std::ranges::minmax_element(report.rows, {}, &QueueRow::replicas);
    return most->replicas < 2 * fewest->replicas ? AxisScale::linear : AxisScale::logarithmic;
}

Chart replicas_chart(QueueReport const& report) {
    Chart chart{.title = "Latency over replicas, " + rate_words(report.answer.arrivals_per_second),
                .caption = "More replicas take away the wait; below the service's own tail they bring nothing.",
                .x = {"replicas", replicas_scale(report)},
                .y = {"latency ms", AxisScale::logarithmic}};
    chart.series.push_back(series_of("p99", Mark::line, report.rows, count_of, p99_of));
    chart.series.push_back(series_of("mean", Mark::line, report.rows, count_of, mean_of));
    if (report.doubling) {
        chart.rules.push_back({false, report.doubling->service_p99.in(units::ms), "p99 of the service alone"});
    }
    if (report.question.objective) {
        chart.rules.push_back({false, report.question.objective->latency.in(units::ms), "objective"});
    }
    if (report.fewest) { chart.rules.push_back({true, static_cast<double>(*report.fewest), "fewest that keep it"}); }
    return chart;
}

} // namespace

std::vector<Chart> queue_charts(QueueReport const& report) {
    std::vector<Chart> charts{load_chart(report)};
    std::size_t const settled = static_cast<std::size_t>(
        std::ranges::count_if(report.rows, [](QueueRow const& row) { return row.answer.stable; }));
    if (settled > 1) { charts.push_back(replicas_chart(report)); }
    return charts;
}

} // namespace headroom::cli
