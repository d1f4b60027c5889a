#include "left_out.hpp"
#include "measured_steps.hpp"
#include "predict/prediction_quantities.hpp"
#include "predict/prediction_report.hpp"
#include "setting_parts.hpp"

namespace headroom::cli {
namespace {

std::optional<double> inverse_million(std::optional<double> const& dollars) {
    return dollars && *dollars > 0.0 ? std::optional{1e6 / *dollars} : std::nullopt;
}

Json communication_json(std::vector<CommunicationRow> const& rows) {
    Json list = Json::array();
    for (CommunicationRow const& row : rows) {
        list.push(Json::object()
                      .set("dimension", row.dimension)
                      .set("collective", row.collective)
                      .set("why", row.why)
                      .set("algorithm", row.algorithm)
                      .set("bytes", row.bytes.base())
                      .set("operations", row.operations)
                      .set("group_size", row.group.size)
                      .set("group_per_domain", row.group.per_domain)
                      .set("seconds", row.seconds.base())
                      .set("exposed_seconds", row.exposed.base()));
    }
    return list;
}

Json remedies_json(std::vector<MemoryRemedy> const& remedies) {
    Json list = Json::array();
    for (MemoryRemedy const& remedy : remedies) {
        list.push(Json::object()
                      .set("change", remedy.change)
                      .set("step_seconds", remedy.step.base())
                      .set("memory_bytes", remedy.memory.base()));
    }
    return list;
}

Json stages_json(Prediction const& p) {
    Json list = Json::array();
    for (MemoryUse const& use : stages_of(p)) {
        list.push(Json::object()
                      .set("stage", use.stage)
                      .set("state_bytes", use.state().base())
                      .set("kept_activations_bytes", use.activations.base())
                      .set("logits_bytes", use.logits.base())
                      .set("temporaries_bytes", use.temporaries.base())
                      .set("buffers_bytes", use.buffers.base())
                      .set("total_bytes", use.total().base())
                      .set("footprint_bytes", use.footprint().base()));
    }
    return list;
}

Json terms_json(std::vector<Term> const& terms) {
    Json list = Json::array();
    for (Term const& term : terms) {
        Json inputs = Json::object();
        for (auto const& [name, value] : term.inputs) { inputs.set(name, value); }
        list.push(Json::object()
                      .set("name", term.name)
                      .set("unit", term.unit)
                      .set("formula", term.formula)
                      .set("inputs", inputs)
                      .set("value", term.value));
    }
    return list;
}

Json what_if_json(PredictionReport const& report) {
    Json list = Json::array();
    double const base = report.prediction.step().base();
    for (LeverOutcome const& lever : report.what_if) {
        double const step = lever.prediction.step().base();
        list.push(Json::object()
                      .set("lever", lever.name)
                      .set("base_step_seconds", base)
                      .set("step_seconds", step)
                      .set("speedup", base / step)
                      .set("fits", lever.prediction.fits)
                      .set("breakdown", breakdown_json(lever.prediction.time)));
    }
    return list;
}

} // namespace

Json breakdown_json(StepTime const& time) {
    return Json::object()
        .set("compute_seconds", time.compute.base())
        .set("host_seconds", time.host.base())
        .set("exposed_communication_seconds", time.exposed_communication().base())
        .set("pipeline_bubble_seconds", time.pipeline_bubble.base())
        .set("optimizer_seconds", time.optimizer.base())
        .set("offload_seconds", time.offload.base())
        .set("imbalance_seconds", time.imbalance.base())
        .set("stragglers_seconds", time.stragglers.base())
        .set("overhead_seconds", time.overhead.base());
}

Json exposed_json(StepTime const& time) {
    return Json::object()
        .set("tensor_seconds", time.tensor_communication.base())
        .set("context_seconds", time.context_communication.base())
        .set("expert_seconds", time.expert_communication.base())
        .set("pipeline_seconds", time.pipeline_communication.base())
        .set("data_seconds", time.data_communication.base());
}

/// `activations_bytes` is its three parts, so that the five first keys sum to the total, and with fragmentation and runtime
/// to the footprint, which fits or does not.
Json memory_json(Prediction const& p) {
    return Json::object()
        .set("weights_bytes", p.memory.weights.base())
        .set("gradients_bytes", p.memory.gradients.base())
        .set("optimizer_bytes", p.memory.optimizer.base())
        .set("activations_bytes", p.memory.all_activations().base())
        .set("buffers_bytes", p.memory.buffers.base())
        .set("total_bytes", p.memory.total().base())
        .set("kept_activations_bytes", p.memory.activations.base())
        .set("logits_bytes", p.memory.logits.base())
        .set("temporaries_bytes", p.memory.temporaries.base())
        .set("fragmentation_bytes", p.memory.fragmentation.base())
        .set("runtime_bytes", p.memory.runtime.base())
        .set("footprint_bytes", p.memory.footprint().base())
        .set("stage", p.memory.stage)
        .set("usable_bytes", p.memory_usable.base())
        .set("capacity_bytes", p.memory_capacity.base())
        .set("fits", p.fits)
        .set("remedies", remedies_json(p.remedies));
}

Json json_of(PredictionReport const& report) {
    Prediction const& p = report.prediction;
    Workload const& work = p.question.workload;
    auto const duration = duration_of(p);
    auto const cost = cost_of(p);
    Json json = result_head("predict", report.setting.catalog, report.setting.calibration.name);
    json.set("model", model_json(report.setting.model))
        .set("cluster", cluster_json(report.setting.cluster))
        .set("framework", report.setting.framework.name)
        .set("workers", p.workers)
        .set("pace", p.pace)
        .set("workload", workload_json(work, p.question.tokens))
        .set("strategy_record", report.setting.strategy_record.empty() ? Json{} : Json{report.setting.strategy_record})
        .set("strategy", strategy_json(p.question.strategy, work))
        .set("fits", p.fits)
        .set("why_not", p.fits ? Json{} : Json{p.why_not})
        .set("step_seconds", p.step().base())
        .set("interval_seconds", Json::array().push(p.interval.low.base()).push(p.interval.high.base()))
        .set("measured", warm_json(p))
        .set("interval_coverage", p.interval.coverage)
        .set("interval_kind", name_of(p.interval.kind))
        .set("tokens_per_second", p.tokens_per_second)
        .set("tokens_per_second_per_accelerator", p.tokens_per_second / accelerators(p))
        .set("samples_per_second", samples_per_second(p))
        .set("model_flops_per_second_per_accelerator", model_rate(p).base())
        .set("peak_flops_per_second", p.peak.base())
        .set("mfu", p.mfu)
        .set("hfu", p.hfu)
        .set("mfu_convention", name_of(p.convention))
        .set("mfu_full_attention", p.mfu_full_attention)
        .set("breakdown", breakdown_json(p.time))
        .set("exposed_communication", exposed_json(p.time))
        .set("communication", communication_json(p.communication))
        .set("memory", memory_json(p))
        .set("memory_by_stage", stages_json(p))
        .set("gamma", p.gamma)
        .set("serial_fraction", Json::object().set("value", p.serial.value).set("at_workers", p.serial.at_workers))
        .set("speedup_ceiling", ceiling_of(p))
        .set("days", duration ? Json{duration->in(units::day)} : Json{})
        .set("cost_dollars", cost ? Json{cost->base()} : Json{})
        .set("tokens_per_dollar", inverse_million(dollars_per_million(p)))
        .set("dollars_per_million_tokens", dollars_per_million(p))
        .set("assumed", assumptions_json(report.assumptions))
        .set("constants", constants_json(report.setting.calibration))
        .set("notes", Json::array_of(report.setting.notes));
    add_left_out(json, p, report.setting.calibration);
    if (!report.schedules.empty()) { json.set("schedules", schedules_json(report.schedules)); }
    if (report.tells_simulation && report.simulation) { json.set("simulation", simulation_json(*report.simulation)); }
    if (!report.what_if.empty()) { json.set("what_if", what_if_json(report)); }
    if (report.terms) { json.set("terms", terms_json(*report.terms)); }
    if (!report.gates.empty()) { json.set("gates", gates_json(report.gates)); }
    if (report.wall_seconds) { json.set("stats", stats_json(*report.wall_seconds)); }
    return json;
}

} // namespace headroom::cli
