#include "queue/queue_report.hpp"
#include "setting_words.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

std::string share(double value) { return std::isfinite(value) ? percent(value) : "-"; }

Table rows_table(QueueReport const& report) {
    auto const any = [&](auto test) { return std::ranges::any_of(report.rows, test); };
    std::vector<ShownField> columns{{"replicas"},
                                    {"utilization", "busy", Shown::percent},
                                    {"wait_probability", "waiting", Shown::percent},
                                    {"wait_seconds", "mean wait"},
                                    {"latency_seconds", "mean"},
                                    {"p99_seconds"},
                                    {"p999_seconds", "p99.9"}};
    if (any([](QueueRow const& row) { return row.answer.blocked > 0.0; })) {
        columns.push_back({"blocked", "away", Shown::percent});
    }
    if (any([](QueueRow const& row) { return row.cost.has_value(); })) {
        columns.push_back({"cost_dollars_per_hour", "cost"});
    }
    if (any([](QueueRow const& row) { return row.keeps.has_value(); })) {
        columns.push_back({"keeps_objective", "keeps"});
    }
    Table table = field_rows("Replicas, at " + rate_words(report.answer.arrivals_per_second), report.rows, columns);
    auto const found = std::ranges::find(report.rows, report.answer.replicas, &QueueRow::replicas);
    if (found != report.rows.end()) { table.marked = static_cast<std::size_t>(found - report.rows.begin()); }
    return table;
}

std::string method_words(QueueMethod method) {
    switch (method) {
    case QueueMethod::exact: return "means are exact for these times";
    case QueueMethod::allen_cunneen: return "formula of Allen and Cunneen: approximate";
    case QueueMethod::geometric_tail: return "a geometric tail: approximate";
    case QueueMethod::batches: return "the service of the mean batch: approximate";
    case QueueMethod::simulation: return "simulated: no closed form";
    case QueueMethod::capacity: return "capacity";
    }
    return {};
}

Table answer_table(QueueReport const& report) {
    QueueRow const& row = report.answer;
    QueueAnswer const& answer = row.answer;
    QueueQuestion const& question = report.question;
    Table table{.title = "With " + replicas_words(row.replicas),
                .columns = {left("figure"), "value", wrapped("meaning")}};
    auto const add = [&table](std::string name, std::string value, std::string meaning) {
        table.rows.push_back({std::move(name), std::move(value), std::move(meaning)});
    };
    add("arrivals", rate_words(row.arrivals_per_second),
        "variation c_a^2 = " + brief(question.queue.load.arrival_variation));
    add("service", time_words(question.queue.load.service),
        "variation c_s^2 = " + brief(question.queue.load.service_variation) +
            (question.samples ? ", measured, as is its tail" : ""));
    add("capacity", rate_words(row.capacity_per_second), "what the replicas serve at most");
    add("throughput", rate_words(answer.throughput_per_second), answer.stable ? "what is served" : "all they can");
    add("busy", share(answer.utilization) + " %", "utilization");
    add("waiting", share(answer.wait_probability) + " %",
        "of requests; they wait " +
            time_words(answer.wait_probability > 0.0 ? answer.wait / answer.wait_probability : Seconds{}) +
            " on average");
    add("mean wait", time_words(answer.wait), "in the line, over all requests");
    add("mean latency", time_words(answer.latency), "until served");
    for (std::size_t i = 0; i < queue_quantiles.size(); ++i) {
        add(percentile_name(queue_quantiles[i]), time_words(row.quantiles[i]), i == 0 ? "half are served by then" : "");
    }
    add("in line", std::isfinite(answer.waiting) ? times_words(answer.waiting) : "no end", "requests, on average");
    if (question.queue.shape.batch > 1) { add("batch", significant(answer.batch), "served together, on average"); }
    if (question.queue.shape.places) { add("turned away", share(answer.blocked) + " %", "of requests find no place"); }
    if (row.cost) {
        add("cost", format(*row.cost),
            "$" + brief(row.cost->base() / answer.throughput_per_second * 1e6) + " a million requests");
    }
    add("method", "", method_words(answer.method));
    return table;
}

Table doubling_table(QueueReport const& report) {
    QueueDoubling const& doubling = *report.doubling;
    bool const shared = report.question.queue.dispatch == Dispatch::shared_line;
    Table table{.title = "What doubling changes",
                .columns = {wrapped(""), "load", "busy %", "served", "mean", "p50", "p99"}};
    auto const add = [&table](std::string name, QueueRow const& row, double lines) {
        table.rows.push_back({std::move(name), rate_words(lines * row.arrivals_per_second),
                              share(row.answer.utilization), rate_words(lines * row.answer.throughput_per_second),
                              time_words(row.answer.latency), time_words(row.p50()), time_words(row.p99())});
    };
    std::string const twice = std::to_string(2 * doubling.now.replicas);
    add(std::to_string(doubling.now.replicas) + ", as now", doubling.now, 1.0);
    add(twice, doubling.same, 1.0);
    add(shared ? twice + " as two lines" : twice + " behind one line", doubling.other_lines(), shared ? 2.0 : 1.0);
    add(twice + ", twice the load", doubling.twice_traffic, 1.0);
    table.rows.push_back(
        {"service alone", "", "", "", time_words(doubling.service_mean), "", time_words(doubling.service_p99)});
    return table;
}

Table pooling_table(QueueReport const& report) {
    Table table{.title = "The same utilization in larger pools",
                .columns = {"replicas", "load", "waiting %", "mean wait", "wait / service", "p99"}};
    for (QueueRow const& row : report.pooling) {
        table.rows.push_back({std::to_string(row.replicas), rate_words(row.arrivals_per_second),
                              share(row.answer.wait_probability), time_words(row.answer.wait),
                              times_words(row.answer.wait / report.question.queue.load.service),
                              time_words(row.p99())});
    }
    return table;
}

/// An end that nothing tells is left open.
std::string interval_words(PercentileInterval const& quantile) {
    if (!quantile.low && !quantile.high) { return "-"; }
    if (!quantile.low) { return "up to " + time_words(Seconds{*quantile.high}); }
    if (!quantile.high) { return "from " + time_words(Seconds{*quantile.low}); }
    return time_words(Seconds{*quantile.low}) + " to " + time_words(Seconds{*quantile.high});
}

Table simulation_table(SimulationReport const& simulation, QueueRow const& closed_form) {
    Table table{.title = "Simulated, request by request",
                .columns = {left("figure"), "formula", "simulated", "95 % interval", left("agrees")}};
    for (ComparedMean const& mean : simulation.compared) {
        std::string name = mean.quantity;
        std::ranges::replace(name, '_', ' ');
        table.rows.push_back({std::move(name), mean_words(mean, mean.closed_form),
                              mean_words(mean, mean.simulated.value),
                              mean_words(mean, mean.simulated.low) + " to " + mean_words(mean, mean.simulated.high),
                              mean.agrees ? "yes" : "no"});
    }
    for (std::size_t i = 0; i < queue_quantiles.size(); ++i) {
        bool const known = !simulation.compared.empty();
        table.rows.push_back({percentile_name(queue_quantiles[i]), known ? time_words(closed_form.quantiles[i]) : "-",
                              time_words(simulation.quantiles[i]), interval_words(simulation.intervals[i]), ""});
    }
    return table;
}

Table hedging_table(HedgingReport const& hedging) {
    Table table{.title = "Second copies", .columns = {left(""), "busy %", "mean", "p50", "p90", "p99", "p99.9"}};
    auto const add = [&table](std::string name, SimulationReport const& one) {
        std::vector<std::string> cells{std::move(name), share(one.run.utilization.value),
                                       time_words(Seconds{one.run.latency_seconds.value})};
        for (Seconds const time : one.quantiles) { cells.push_back(time_words(time)); }
        table.rows.push_back(std::move(cells));
    };
    add("one copy", hedging.without);
    add("hedged", hedging.with);
    return table;
}

std::string scale_name(ScaleChoice const& choice, double factor) {
    std::string const count = std::to_string(choice.queue.shape.servers);
    switch (choice.scaling) {
    case Scaling::present: return count + ", as now";
    case Scaling::up: return count + ", " + brief(factor) + "x as fast";
    case Scaling::shared_out: return count + " behind one line";
    case Scaling::own_out: return count + ", a line each";
    }
    return {};
}

Table scale_table(QueueReport const& report) {
    Table table{.title = "Up or out: faster machines, or more of them at the same price",
                .columns = {left("replicas"), "busy %", "mean wait", "mean", "p50", "p99"}};
    for (ScaleChoice const& one : report.scale) {
        table.rows.push_back({scale_name(one, *report.question.factor), share(one.answer.utilization),
                              time_words(one.answer.wait), time_words(one.answer.latency), time_words(one.p50),
                              time_words(one.p99)});
    }
    return table;
}

void add_simulation(std::vector<Block>& blocks, QueueReport const& report) {
    if (report.simulation) {
        blocks.emplace_back(Paragraph{report.simulation->verdict, "simulation", false, Part::answer});
        blocks.emplace_back(as(Part::answer, simulation_table(*report.simulation, report.answer)));
        for (std::string const& note : report.simulation->notes) { blocks.emplace_back(Paragraph{note, "note"}); }
    }
    if (report.hedging) {
        blocks.emplace_back(Paragraph{report.hedging->verdict, "hedging"});
        blocks.emplace_back(hedging_table(*report.hedging));
    }
}

std::string title_of(QueueReport const& report) {
    QueueQuestion const& question = report.question;
    std::string title = "Queue: " + rate_words(question.queue.load.arrivals_per_second) + " of " +
                        time_words(question.queue.load.service) + " each, " + replicas_words(report.answer.replicas);
    if (question.queue.dispatch != Dispatch::shared_line) {
        title += ", dispatched by " + std::string{name_of(question.queue.dispatch)};
    }
    return title;
}

} // namespace

Document document_of(QueueReport const& report, std::string catalog_footer) {
    Document document{title_of(report), {}, std::move(catalog_footer)};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{report.verdict, "", true});
    blocks.emplace_back(answer_table(report));
    if (report.rows.size() > 1) { blocks.emplace_back(as(Part::answer, rows_table(report))); }
    if (report.enough && *report.enough != report.answer.replicas) {
        blocks.emplace_back(Paragraph{"from " + replicas_words(*report.enough) +
                                          " on p99 is within a tenth of the service's own; more shorten it no further",
                                      "enough"});
    }
    auto charts = queue_charts(report);
    for (std::size_t i = 1; i < charts.size(); ++i) { blocks.emplace_back(charts[i]); }
    if (report.doubling) {
        blocks.emplace_back(doubling_table(report));
        blocks.emplace_back(Paragraph{report.doubling->verdict, "doubling", false, Part::detail});
    }
    if (report.knee) { blocks.emplace_back(Paragraph{knee_words(report), "knee"}); }
    blocks.emplace_back(charts.front());
    if (!report.scale.empty()) {
        blocks.emplace_back(as(Part::answer, scale_table(report)));
        blocks.emplace_back(Paragraph{report.scale_verdict, "up or out"});
    }
    add_simulation(blocks, report);
    if (!report.pooling.empty()) {
        blocks.emplace_back(pooling_table(report));
        blocks.emplace_back(Paragraph{pooling_words(report), "pooling"});
    }
    add_issues(blocks, issues_of(report));
    blocks.emplace_back(assumptions_table(report.assumptions));
    return document;
}

} // namespace headroom::cli
