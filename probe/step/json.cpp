// Results for machines.

#include "step_report.hpp"

#include "headroom/collective.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace headroom::training {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no word for what is not finite.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// Names come from the command line and from libraries: what is no UTF-8 is replaced.
std::string text_of(Json const& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json model_json(StepProfile const& profile) {
    TransformerShape const& shape = profile.shape;
    return {{"layers", shape.layers},
            {"hidden", shape.hidden},
            {"heads", shape.heads},
            {"sequence", shape.sequence},
            {"vocabulary", shape.vocabulary},
            {"tied", shape.tied},
            {"parameters", shape.parameters()},
            {"gradient_bytes", shape.parameters() * profile.element_bytes()}};
}

/// What a run and a prediction have alike.
Json opening(char const* kind, StepProfile const& profile, Division const& division) {
    return {{"schema", "headroom.training-step/1"},
            {"kind", kind},
            {"model", model_json(profile)},
            {"precision", profile.is_double ? "double" : "single"},
            {"gemm", profile.gemm},
            {"batch", division.batch},
            {"batch_is_of", division.local ? "each worker" : "all workers"},
            {"bucket_bytes", number(division.bucket_bytes)},
            {"overlap", division.overlap},
            {"all_reduce", division.algorithm}};
}

Json phases_json(RunReport const& report) {
    return {{"forward_seconds", number(report.middle(&PhaseTimes::forward))},
            {"backward_seconds", number(report.middle(&PhaseTimes::backward))},
            {"exposed_all_reduce_seconds", number(report.middle(&PhaseTimes::exposed))},
            {"optimizer_seconds", number(report.middle(&PhaseTimes::optimizer))}};
}

/// What each worker sends in a step, where the algorithm is known.
Json sent(RunReport const& report) {
    if (report.options.all_reduce != AllReduce::ring && report.workers > 1) { return nullptr; }
    StepProfile const& profile = report.result.profile;
    double const bytes = static_cast<double>(profile.shape.parameters() * profile.element_bytes());
    return number(ring_all_reduce_bytes(TotalBytes{Bytes{bytes}}, Ranks{report.workers}).base());
}

Json row_json(PredictedStep const& step) {
    return {{"workers", step.workers},
            {"sequences_of_the_fullest", step.share},
            {"step_seconds", number(step.step)},
            {"forward_seconds", number(step.forward)},
            {"backward_seconds", number(step.backward)},
            {"exposed_all_reduce_seconds", number(step.exposed)},
            {"slowed_seconds", number(step.slowed)},
            {"optimizer_seconds", number(step.optimizer)},
            {"all_reduce_seconds", number(step.all_reduce)},
            {"gamma", number(step.gamma)},
            {"serial_share", number(step.serial_share)},
            {"speedup", number(step.speedup)},
            {"ceiling", step.ceiling ? number(*step.ceiling) : Json(nullptr)}};
}

} // namespace

std::string run_json(RunReport const& report) {
    std::vector<double> steps;
    for (PhaseTimes const& one : report.result.steps) { steps.push_back(one.step); }
    Json object = opening(report.is_replay ? "replay" : "run", report.result.profile, report.division());
    object.update(
        {{"workers", report.workers},
         {"sequences_of_the_fullest", report.division().largest_share(static_cast<std::size_t>(report.workers))},
         {"buckets", report.result.buckets},
         {"bytes_sent_per_worker", sent(report)},
         {"warm_up", report.options.warm_up},
         {"step_seconds", number(report.middle(&PhaseTimes::step))},
         {"least_step_seconds", number(report.least_step())},
         {"phases", phases_json(report)},
         {"all_reduce_seconds", report.workers > 1 ? number(report.middle(&PhaseTimes::all_reduce)) : Json(0)},
         {"gamma", number(report.gamma())},
         {"serial_share", number(report.serial_share())},
         {"steps_seconds", steps},
         {"losses", report.result.losses}});
    return text_of(object);
}

std::string prediction_json(StepProfile const& profile, Division const& division,
                            std::vector<PredictedStep> const& steps) {
    Json rows = Json::array();
    for (PredictedStep const& step : steps) { rows.push_back(row_json(step)); }
    Json object = opening("prediction", profile, division);
    object["profiled_batch"] = profile.batch;
    object["latency_seconds"] = number(division.link.latency.base());
    object["bandwidth_bytes_per_second"] = number(division.link.bandwidth.base());
    object["exchange_load"] = number(division.load);
    object["rows"] = std::move(rows);
    return text_of(object);
}

} // namespace headroom::training
