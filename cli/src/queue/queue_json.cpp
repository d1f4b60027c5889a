#include "document/text.hpp"
#include "queue/queue_report.hpp"
#include "setting_parts.hpp"

namespace headroom::cli {
namespace {

Json hourly(std::optional<DollarsPerSecond> const& price) { return price ? Json{price->base() * 3600.0} : Json{}; }

Json row_json(QueueRow const& row) {
    QueueAnswer const& answer = row.answer;
    Json million = row.cost ? Json{row.cost->base() / answer.throughput_per_second * 1e6} : Json{};
    return Json::object()
        .set("replicas", row.replicas)
        .set("arrivals_per_second", row.arrivals_per_second)
        .set("capacity_per_second", row.capacity_per_second)
        .set("stable", answer.stable)
        .set("utilization", answer.utilization)
        .set("wait_probability", answer.wait_probability)
        .set("wait_seconds", answer.wait.base())
        .set("latency_seconds", answer.latency.base())
        .set("p50_seconds", row.quantiles[0].base())
        .set("p90_seconds", row.quantiles[1].base())
        .set("p99_seconds", row.quantiles[2].base())
        .set("p999_seconds", row.quantiles[3].base())
        .set("throughput_per_second", answer.throughput_per_second)
        .set("blocked", answer.blocked)
        .set("waiting", answer.waiting)
        .set("present", answer.present)
        .set("batch", answer.batch)
        .set("method", row.method)
        .set("keeps_objective", row.keeps)
        .set("cost_dollars_per_hour", hourly(row.cost))
        .set("dollars_per_million_requests", million);
}

Json rows_json(std::vector<QueueRow> const& rows) {
    Json list = Json::array();
    for (QueueRow const& row : rows) { list.push(row_json(row)); }
    return list;
}

Json load_json(QueueQuestion const& question) {
    QueueLoad const& load = question.queue.load;
    Json samples;
    if (question.samples) {
        samples = Json::object()
                      .set("file", question.samples_file)
                      .set("count", question.samples->digest.values().count())
                      .set("unit", question.samples->unit)
                      .set("format", question.samples->format);
    }
    return Json::object()
        .set("arrivals_per_second", load.arrivals_per_second)
        .set("arrival_variation", load.arrival_variation)
        .set("service_seconds", load.service.base())
        .set("service_variation", load.service_variation)
        .set("service_samples", samples);
}

Json shape_json(QueueQuestion const& question) {
    QueueShape const& shape = question.queue.shape;
    return Json::object()
        .set("dispatch", dispatch_word(question.queue.dispatch))
        .set("places", shape.places)
        .set("batch", shape.batch)
        .set("batch_growth", shape.batch_growth)
        .set("price_dollars_per_hour", hourly(question.price));
}

Json objective_json(QueueReport const& report) {
    auto const& objective = report.question.objective;
    if (!objective) { return {}; }
    return Json::object()
        .set("quantile", objective->q)
        .set("latency_seconds", objective->latency.base())
        .set("blocked", objective->blocked)
        .set("kept", report.answer.keeps);
}

Json doubling_json(QueueReport const& report) {
    if (!report.doubling) { return {}; }
    QueueDoubling const& doubling = *report.doubling;
    bool const shared = report.question.queue.dispatch == Dispatch::shared_line;
    bool const settles = doubling.now.answer.stable && doubling.same.answer.stable;
    auto const ratio = [&](double now, double then) { return settles ? Json{then / now} : Json{}; };
    return Json::object()
        .set("now", row_json(doubling.now))
        .set("same_traffic", row_json(doubling.same))
        .set(shared ? "two_lines" : "one_line", row_json(doubling.other_lines))
        .set("twice_traffic", row_json(doubling.twice_traffic))
        .set("service_p99_seconds", doubling.service_p99.base())
        .set("throughput_ratio",
             ratio(doubling.now.answer.throughput_per_second, doubling.same.answer.throughput_per_second))
        .set("latency_ratio", ratio(doubling.now.answer.latency.base(), doubling.same.answer.latency.base()))
        .set("p99_ratio", ratio(doubling.now.p99().base(), doubling.same.p99().base()))
        .set("verdict", doubling_words(report));
}

Json mean_json(SimulatedMean const& mean) {
    return Json::object().set("value", mean.value).set("low", mean.low).set("high", mean.high);
}

Json intervals_json(SimulationReport const& simulation) {
    Json json = Json::array();
    for (std::size_t i = 0; i < queue_quantiles.size(); ++i) {
        json.push(Json::object()
                      .set("percentile", percentile_name(queue_quantiles[i]))
                      .set("low_seconds", simulation.intervals[i].low)
                      .set("high_seconds", simulation.intervals[i].high));
    }
    return json;
}

Json simulation_json(SimulationReport const& simulation, Json agrees) {
    SimulatedQueue const& run = simulation.run;
    Json compared = Json::array();
    for (ComparedMean const& mean : simulation.compared) {
        compared.push(Json::object()
                          .set("quantity", mean.quantity)
                          .set("unit", mean.unit)
                          .set("closed_form", mean.closed_form)
                          .set("simulated", mean.simulated.value)
                          .set("low", mean.simulated.low)
                          .set("high", mean.simulated.high)
                          .set("within_interval",
                               mean.closed_form >= mean.simulated.low && mean.closed_form <= mean.simulated.high)
                          .set("agrees", mean.agrees));
    }
    return Json::object()
        .set("duration_seconds", simulation.duration.base())
        .set("warm_up_seconds", simulation.warm_up.base())
        .set("requests", run.requests)
        .set("blocked", run.blocked)
        .set("hedged", run.hedged)
        .set("events", run.events)
        .set("utilization", mean_json(run.utilization))
        .set("wait_probability", mean_json(run.wait_probability))
        .set("wait_seconds", mean_json(run.wait_seconds))
        .set("latency_seconds", mean_json(run.latency_seconds))
        .set("waiting", mean_json(run.waiting))
        .set("p50_seconds", simulation.quantiles[0].base())
        .set("p90_seconds", simulation.quantiles[1].base())
        .set("p99_seconds", simulation.quantiles[2].base())
        .set("p999_seconds", simulation.quantiles[3].base())
        .set("percentile_intervals", intervals_json(simulation))
        .set("compared", compared)
        .set("agrees", std::move(agrees))
        .set("notes", Json::array_of(simulation.notes));
}

Json own_simulation_json(QueueReport const& report) {
    if (!report.simulation) { return {}; }
    SimulationReport const& simulation = *report.simulation;
    return simulation_json(simulation, simulation.compared.empty() ? Json{} : Json{simulation.agrees})
        .set("verdict", simulation_words(simulation, report.answer));
}

Json hedging_json(QueueReport const& report) {
    if (!report.hedging) { return {}; }
    return Json::object()
        .set("delay_seconds", report.question.hedge->base())
        .set("copies_per_request", report.hedging->copies)
        .set("with", simulation_json(report.hedging->with, {}))
        .set("without", simulation_json(report.hedging->without, {}))
        .set("verdict", hedging_words(*report.hedging, *report.question.hedge));
}

Json scale_json(QueueReport const& report) {
    Json list = Json::array();
    for (ScaleChoice const& one : report.scale) {
        list.push(Json::object()
                      .set("choice", name_of(one.scaling))
                      .set("replicas", one.queue.shape.servers)
                      .set("service_seconds", one.queue.load.service.base())
                      .set("dispatch", dispatch_word(one.queue.dispatch))
                      .set("stable", one.answer.stable)
                      .set("utilization", one.answer.utilization)
                      .set("wait_seconds", one.answer.wait.base())
                      .set("latency_seconds", one.answer.latency.base())
                      .set("p50_seconds", one.p50.base())
                      .set("p99_seconds", one.p99.base())
                      .set("method", method_key(one.answer.method)));
    }
    return list;
}

std::string cell(std::optional<double> value) { return value ? exact(*value) : ""; }

} // namespace

Json json_of(QueueReport const& report, Json head) {
    QueueQuestion const& question = report.question;
    head.set("load", load_json(question))
        .set("shape", shape_json(question))
        .set("seed", question.seed)
        .set("answer", row_json(report.answer))
        .set("rows", rows_json(report.rows))
        .set("curve", rows_json(report.curve))
        .set("knee", report.knee ? row_json(*report.knee) : Json{})
        .set("doubling", doubling_json(report))
        .set("pooling", rows_json(report.pooling))
        .set("objective", objective_json(report))
        .set("replicas_for_objective", report.fewest)
        .set("enough_replicas", report.enough)
        .set("simulation", own_simulation_json(report))
        .set("hedging", hedging_json(report))
        .set("scale_up_or_out", scale_json(report))
        .set("more_win_above_variation", report.more_win_above)
        .set("scale_verdict", report.scale.empty() ? Json{} : Json{scale_words(report)})
        .set("gates", gates_json(report.gates))
        .set("assumptions", assumptions_json(report.assumptions))
        .set("verdict", queue_verdict(report));
    if (report.wall_seconds) { head.set("stats", stats_json(*report.wall_seconds)); }
    return head;
}

Sheet sheet_of(QueueReport const& report) {
    Sheet sheet{{"replicas", "arrivals_per_second", "capacity_per_second", "stable", "utilization", "wait_probability",
                 "wait_seconds", "latency_seconds", "p50_seconds", "p90_seconds", "p99_seconds", "p999_seconds",
                 "throughput_per_second", "blocked", "method", "keeps_objective", "cost_dollars_per_hour"},
                {}};
    for (QueueRow const& row : report.rows) {
        QueueAnswer const& answer = row.answer;
        std::vector<std::string> cells{std::to_string(row.replicas),   exact(row.arrivals_per_second),
                                       exact(row.capacity_per_second), answer.stable ? "true" : "false",
                                       exact(answer.utilization),      exact(answer.wait_probability),
                                       exact(answer.wait.base()),      exact(answer.latency.base())};
        for (Seconds const time : row.quantiles) { cells.push_back(exact(time.base())); }
        cells.insert(cells.end(), {exact(answer.throughput_per_second), exact(answer.blocked), row.method,
                                   row.keeps ? (*row.keeps ? "true" : "false") : "",
                                   cell(row.cost ? std::optional{row.cost->base() * 3600.0} : std::nullopt)});
        sheet.rows.push_back(std::move(cells));
    }
    return sheet;
}

} // namespace headroom::cli
