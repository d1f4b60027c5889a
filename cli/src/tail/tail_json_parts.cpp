#include "tail/tail_report.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

Json hedge_json(Hedge const& hedge, TailUnit unit) {
    return Json::object()
        .set(unit.key("delay"), hedge.delay)
        .set("delay_quantile", hedge.delay_quantile)
        .set("extra_load", hedge.extra_load)
        .set("extra_work", hedge.extra_work)
        .set("extra_work_cancelled", hedge.extra_work_cancelled)
        .set(unit.key("mean"), hedge.mean)
        .set(unit.key("p50"), hedge.p50)
        .set(unit.key("p99"), hedge.p99)
        .set(unit.key("p99.9"), hedge.p999);
}

Json backup_json(BackupWorkers const& backup, TailUnit unit) {
    return Json::object()
        .set("workers", backup.workers.count())
        .set("backups", backup.backups)
        .set(unit.key("mean"), backup.mean)
        .set(unit.key("p50"), backup.p50)
        .set(unit.key("p99"), backup.p99)
        .set("slowdown", backup.slowdown)
        .set("useful_per_second", backup.useful_per_second);
}

Json fitted_json(std::optional<FanOut> const& fitted, TailUnit unit) {
    if (!fitted) { return {}; }
    return Json::object()
        .set("probability_slow", fitted->probability_slow)
        .set(unit.key("p50"), fitted->p50)
        .set(unit.key("p90"), fitted->p90)
        .set(unit.key("p99"), fitted->p99)
        .set(unit.key("p99.9"), fitted->p999)
        .set(unit.key("mean"), fitted->mean);
}

Json simulated_json(std::optional<SimulatedReplicas> const& row) {
    if (!row) { return {}; }
    auto const known = [&](double value) { return row->stable ? Json{value} : Json{}; };
    return Json::object()
        .set("replicas", row->replicas)
        .set("stable", row->stable)
        .set("utilization", row->utilization)
        .set("mean_seconds", known(row->mean))
        .set("wait_seconds", known(row->wait))
        .set("wait_probability", known(row->wait_probability))
        .set("p50_seconds", known(row->p50))
        .set("p99_seconds", known(row->p99))
        .set("at_objective_seconds", known(row->at_objective));
}

Json load_point_json(LoadPoint const& point) {
    return Json::object()
        .set("arrivals_per_second", point.arrivals_per_second)
        .set("stable", point.answer.stable)
        .set("utilization", point.answer.utilization)
        .set("throughput_per_second", point.answer.throughput_per_second)
        .set("wait_seconds", point.answer.wait.base())
        .set("latency_seconds", point.answer.latency.base())
        .set("p50_seconds", point.p50.base())
        .set("p99_seconds", point.p99.base());
}

Json doubling_json(std::optional<Doubling> const& doubling) {
    if (!doubling) { return {}; }
    return Json::object()
        .set("now", load_point_json(doubling->now))
        .set("shared_line", load_point_json(doubling->shared_line))
        .set("own_lines", load_point_json(doubling->own_lines))
        .set("twice_traffic", load_point_json(doubling->twice_traffic))
        .set("service_p99_seconds", doubling->service_p99.base());
}

} // namespace

Json fan_out_json(TailAnswer const& answer) {
    Json json = Json::array();
    for (TailFanOut const& row : answer.fan_outs) {
        Json backups = Json::array();
        for (BackupWorkers const& one : row.backups) { backups.push(backup_json(one, answer.unit)); }
        json.push(Json::object()
                      .set("workers", row.seen.workers.count())
                      .set("probability_slow", row.seen.probability_slow)
                      .set("p50", row.seen.p50)
                      .set("p90", row.seen.p90)
                      .set("p99", row.seen.p99)
                      .set("p99.9", row.seen.p999)
                      .set("mean", row.seen.mean)
                      .set("slowdown", row.seen.slowdown)
                      .set("beyond_samples", row.seen.beyond_samples)
                      .set("p99_beyond_samples", row.seen.p99_beyond_samples)
                      .set("each_must_keep", row.each_must_keep)
                      .set("fitted", fitted_json(row.fitted, answer.unit))
                      .set("backups", backups)
                      .set("best_backups", row.best_backup ? Json{row.best_backup->backups} : Json{}));
    }
    return json;
}

Json hedging_json(TailAnswer const& answer) {
    if (answer.hedges.empty()) { return {}; }
    Json delays = Json::array();
    for (Hedge const& one : answer.hedges) { delays.push(hedge_json(one, answer.unit)); }
    auto const best = std::ranges::min_element(answer.hedges, {}, &Hedge::p99);
    return Json::object()
        .set("delays", delays)
        .set("best", hedge_json(*best, answer.unit))
        .set("tied", answer.tied ? hedge_json(*answer.tied, answer.unit) : Json{});
}

Json comparison_json(TailAnswer const& answer) {
    if (!answer.comparison) { return {}; }
    Json quantiles = Json::array();
    for (QuantileChange const& one : answer.comparison->quantiles) {
        quantiles.push(Json::object()
                           .set("percentile", percentile_name(one.q))
                           .set(answer.unit.key("baseline"), one.first)
                           .set(answer.unit.key("value"), one.second)
                           .set("ratio", one.ratio)
                           .set("low", one.low)
                           .set("high", one.high)
                           .set("probability", one.probability)
                           .set("moved", one.probability < tail_significance));
    }
    return Json::object()
        .set("baseline_samples", answer.baseline->values.count())
        .set("percentiles", quantiles)
        .set("distance", answer.comparison->distance)
        .set("probability", answer.comparison->probability)
        .set("larger", answer.comparison->larger)
        .set("verdict", comparison_words(answer));
}

Json replicas_json(TailAnswer const& answer) {
    if (!answer.slo) { return {}; }
    ReplicasForSlo const& slo = *answer.slo;
    Json json = Json::object();
    json.set("objective", slo.objective.text)
        .set("quantile", slo.objective.q)
        .set("limit_seconds", slo.limit)
        .set("measured_seconds", slo.measured)
        .set("missing", Json::array_of(slo.missing));
    bool const known = slo.answered();
    json.set("arrivals_per_second", slo.arrivals_from.empty() ? Json{} : Json{slo.load.arrivals_per_second})
        .set("arrivals_from", slo.arrivals_from.empty() ? Json{} : Json{slo.arrivals_from})
        .set("arrival_variation", known ? Json{slo.load.arrival_variation} : Json{})
        .set("service_seconds", known ? Json{slo.load.service.base()} : Json{})
        .set("service_variation", known ? Json{slo.load.service_variation} : Json{})
        .set("service_from", known ? Json{slo.service_from} : Json{})
        .set("drawn_from", known ? Json{slo.drawn_from} : Json{})
        .set("floor_seconds", known ? Json{slo.floor} : Json{})
        .set("utilization", slo.utilization)
        .set("wait_share", slo.wait_share)
        .set("replicas", slo.replicas())
        .set("by_formula", slo.by_formula)
        .set("by_simulation", slo.by_simulation)
        .set("chosen", simulated_json(slo.chosen))
        .set("now", simulated_json(slo.now))
        .set("doubled", simulated_json(slo.doubled))
        .set("doubling", doubling_json(slo.doubling))
        .set("hedge", slo.hedge ? hedge_json(*slo.hedge, answer.unit) : Json{})
        .set("verdict", replicas_words(slo, answer.unit));
    return json;
}

} // namespace headroom::cli
