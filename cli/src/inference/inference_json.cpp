#include "dispatch.hpp"
#include "document/text.hpp"
#include "inference/inference_report.hpp"
#include "setting_parts.hpp"

namespace headroom::cli {
namespace {

Json seconds_json(std::optional<Seconds> const& time) { return time ? Json{time->base()} : Json{}; }

Json quantiles_json(LatencyHistogram const& histogram) {
    if (histogram.empty()) { return {}; }
    return Json::object()
        .set("mean", histogram.mean())
        .set("p50", histogram.quantile(0.5))
        .set("p90", histogram.quantile(0.9))
        .set("p99", histogram.quantile(0.99))
        .set("max", histogram.most());
}

/// What a fleet did, as members of a row.
void add_result(Json& json, ServingResult const& result) {
    json.set("requests", result.requests)
        .set("unfinished", result.unfinished)
        .set("refused", result.refused)
        .set("ttft_seconds", quantiles_json(result.first_token))
        .set("tpot_seconds", quantiles_json(result.per_token))
        .set("latency_seconds", quantiles_json(result.whole))
        .set("goodput_per_second", result.goodput_per_second)
        .set("share_in_time", result.met)
        .set("output_tokens_per_second", result.output_tokens_per_second)
        .set("prompt_tokens_per_second", result.prompt_tokens_per_second)
        .set("mean_batch", result.mean_batch)
        .set("busy", result.busy)
        .set("cache_use", result.cache_use)
        .set("cache_peak", result.cache_peak)
        .set("preemptions", result.preemptions)
        .set("stable", result.stable);
}

Json choice_json(ServingChoice const& one) {
    Json json = Json::object()
                    .set("tp", one.plan.tp)
                    .set("replicas", one.replicas)
                    .set("accelerators", one.accelerators)
                    .set("dollars_per_hour", one.price ? Json{one.price->in(units::dollar / units::hour)} : Json{})
                    .set("dollars_per_million_output_tokens", one.dollars_per_million_output_tokens)
                    .set("meets", one.meets)
                    .set("why_not", one.why_not.empty() ? Json{} : Json{one.why_not});
    add_result(json, one.result);
    return json;
}

Json choices_json(std::vector<ServingChoice> const& choices) {
    Json all = Json::array();
    for (ServingChoice const& one : choices) { all.push(choice_json(one)); }
    return all;
}

Json memory_json(ServingMemory const& memory) {
    return Json::object()
        .set("weights_bytes", memory.weights.base())
        .set("activations_bytes", memory.activations.base())
        .set("cache_bytes", memory.cache.base())
        .set("cache_bytes_per_token", memory.cache_per_token.base())
        .set("window_bytes_per_token", memory.window_per_token.base())
        .set("state_bytes_per_sequence", memory.state_per_sequence.base())
        .set("cache_tokens", memory.cache_tokens)
        .set("usable_bytes", memory.usable.base())
        .set("capacity_bytes", memory.capacity.base())
        .set("fits", memory.fits)
        .set("why_not", memory.why_not.empty() ? Json{} : Json{memory.why_not});
}

Json plans_json(InferenceReport const& report) {
    Json all = Json::array();
    for (PlanRow const& one : report.plans) {
        bool const some = one.steady && one.steady->requests_per_second > 0.0;
        all.push(Json::object()
                     .set("tp", one.plan.tp)
                     .set("memory", memory_json(one.memory))
                     .set("largest_batch", one.largest_batch)
                     .set("prompt_alone_seconds", one.steady ? Json{one.prompt_alone.base()} : Json{})
                     .set("steady_batch", some ? Json{one.steady->batch} : Json{})
                     .set("steady_iteration_seconds", some ? Json{one.steady->iteration.base()} : Json{})
                     .set("steady_requests_per_second", some ? Json{one.steady->requests_per_second} : Json{})
                     .set("dollars_per_million_output_tokens", one.dollars_per_million_output_tokens)
                     .set("why_not", one.why_not.empty() ? Json{} : Json{one.why_not}));
    }
    return all;
}

Json decode_json(InferenceReport const& report) {
    Json all = Json::array();
    for (DecodeRow const& one : report.decode) {
        all.push(Json::object()
                     .set("batch", one.batch)
                     .set("context_tokens", one.context)
                     .set("seconds", one.time.total.base())
                     .set("products_seconds", one.time.products.base())
                     .set("attention_seconds", one.time.attention.base())
                     .set("memory_seconds", one.time.memory.base())
                     .set("communication_seconds", one.time.communication.base())
                     .set("gaps_seconds", one.time.gaps.base())
                     .set("host_seconds", one.time.host.base())
                     .set("bound", name_of(one.time.bound))
                     .set("read_bytes", one.time.read.base())
                     .set("flops", one.time.flops.base())
                     .set("tokens_per_second", one.tokens_per_second)
                     .set("cache_share", one.cache_share));
    }
    return all;
}

Json prefill_json(InferenceReport const& report) {
    Json all = Json::array();
    for (PrefillRow const& one : report.prefill) {
        all.push(Json::object()
                     .set("tokens", one.tokens)
                     .set("iterations", one.iterations)
                     .set("seconds", one.seconds.base())
                     .set("tokens_per_second", one.tokens / one.seconds.base())
                     .set("bound", name_of(one.bound)));
    }
    return all;
}

Json load_json(InferenceReport const& report) {
    Json all = Json::array();
    for (LoadRow const& one : report.load) {
        Json json =
            Json::object()
                .set("requests_per_second", one.requests_per_second)
                .set("of_capacity", report.capacity > 0.0 ? Json{one.requests_per_second / report.capacity} : Json{})
                .set("meets", one.meets);
        add_result(json, one.result);
        all.push(json);
    }
    return all;
}

Json traffic_json(InferenceQuestion const& question) {
    ServingTraffic const& traffic = question.traffic;
    bool const some = question.simulates(), drawn = some && !question.trace;
    return Json::object()
        .set("requests", question.requests.size())
        .set("requests_per_second", some ? Json{question.arrivals()} : Json{})
        .set("burstiness", drawn ? Json{traffic.burstiness} : Json{})
        .set("prompt_tokens", traffic.prompt_tokens)
        .set("output_tokens", traffic.output_tokens)
        .set("prompt_variation", drawn ? Json{traffic.prompt_variation} : Json{})
        .set("output_variation", drawn ? Json{traffic.output_variation} : Json{})
        .set("duration_seconds", some ? Json{traffic.duration.base()} : Json{})
        .set("warm_up_seconds", some ? Json{question.experiment.warm_up.base()} : Json{})
        .set("seed", drawn ? Json{traffic.seed} : Json{});
}

Json trace_json(InferenceQuestion const& question) {
    if (!question.trace) { return {}; }
    io::RequestTrace const& trace = *question.trace;
    Json dirt = Json::array();
    for (auto const& one : trace.dirt) {
        dirt.push(Json::object().set("kind", one.kind).set("rows", one.count).set("first_line", one.first_line));
    }
    return Json::object()
        .set("file", printable(question.trace_file))
        .set("format", trace.format)
        .set("time_column", printable(trace.time_column))
        .set("prompt_column", printable(trace.prompt_column))
        .set("output_column", printable(trace.output_column))
        .set("time_unit", printable(trace.time_unit))
        .set("unit_from", trace.unit_from)
        .set("rows", trace.rows)
        .set("left_out", dirt)
        .set("out_of_order", trace.out_of_order)
        .set("notes", Json::array_of(trace.notes));
}

Json objectives_json(ServingObjectives const& objectives) {
    return Json::object()
        .set("ttft_seconds", seconds_json(objectives.first_token))
        .set("tpot_seconds", seconds_json(objectives.per_token))
        .set("latency_seconds", seconds_json(objectives.whole))
        .set("share", objectives.share);
}

Json plan_json(ServingPlan const& plan, Dispatch dispatch) {
    return Json::object()
        .set("precision", name_of(plan.weights))
        .set("cache_precision", name_of(plan.cache))
        .set("max_batch", plan.most_sequences)
        .set("prefill_chunk_tokens", plan.prefill_chunk)
        .set("memory_share", plan.memory_share)
        .set("dispatch", name_of(dispatch));
}

Json recommendation_json(InferenceReport const& report) {
    Json json = Json::object().set("feasible", report.feasible()).set("verdict", verdict_of(report));
    ServingChoice const* const choice = report.choice();
    PlanRow const* const row = report.plan();
    Json cost; // null where no price is known
    if (choice != nullptr) {
        cost = Json{choice->dollars_per_million_output_tokens};
    } else if (row != nullptr) {
        cost = Json{row->dollars_per_million_output_tokens};
    }
    std::string const words = scale_up_or_out(report);
    return json.set("tp", row != nullptr ? Json{row->plan.tp} : Json{})
        .set("replicas", choice != nullptr ? Json{choice->replicas} : Json{})
        .set("accelerators", choice != nullptr ? Json{choice->accelerators} : Json{})
        .set("dollars_per_million_output_tokens", cost)
        .set("capacity_requests_per_second", report.capacity > 0.0 ? Json{report.capacity} : Json{})
        .set("knee_requests_per_second", report.knee)
        .set("scale_up_or_out", words.empty() ? Json{} : Json{words});
}

Json against_json(InferenceReport const& report) {
    if (!report.against) { return {}; }
    return Json::object()
        .set("cluster", cluster_json(*report.question.against))
        .set("accelerators", report.against->accelerators)
        .set("choices", choices_json(report.against->choices))
        .set("best", report.against->best)
        .set("verdict", against_words(report));
}

Json interval_json(std::optional<TimeInterval> const& interval) {
    if (!interval) { return {}; }
    return Json::object()
        .set("low", interval->low.base())
        .set("value", interval->value.base())
        .set("high", interval->high.base());
}

Json uncertainty_json(InferenceReport const& report) {
    Json margins = Json::array(), guesses = Json::array();
    for (MarginRow const& one : report.margins) {
        margins.push(Json::object().set("slower", one.slower).set("replicas", one.replicas));
    }
    for (ServingGuess const& one : serving_guesses()) {
        guesses.push(
            Json::object().set("name", one.name).set("value", one.value).set("unit", one.unit).set("why", one.why));
    }
    return Json::object()
        .set("validated", false)
        .set("statement", uncertainty_words(report))
        .set("decode_interval_seconds", interval_json(report.decode_interval))
        .set("prefill_interval_seconds", interval_json(report.prefill_interval))
        .set("margins", margins)
        .set("guesses", guesses);
}

} // namespace

Json json_of(InferenceReport const& report) {
    InferenceQuestion const& question = report.question;
    Setting const& setting = question.setting;
    Json json = result_head("inference", setting.catalog, setting.calibration.name);
    json.set("model", model_json(setting.model))
        .set("cluster", cluster_json(setting.cluster))
        .set("engine", plan_json(question.plan, question.experiment.dispatch))
        .set("objectives", objectives_json(question.experiment.objectives))
        .set("traffic", traffic_json(question))
        .set("trace", trace_json(question))
        .set("memory", report.plan() != nullptr ? memory_json(report.plan()->memory) : Json{})
        .set("plans", plans_json(report))
        .set("decode", decode_json(report))
        .set("prefill", prefill_json(report))
        .set("choices", choices_json(report.choices))
        .set("same_accelerators", choices_json(report.same))
        .set("against", against_json(report))
        .set("load", load_json(report))
        .set("recommendation", recommendation_json(report))
        .set("uncertainty", uncertainty_json(report))
        .set("assumptions", assumptions_json(question.assumptions))
        .set("constants", constants_json(setting.calibration))
        .set("gates", gates_json(report.gates));
    if (report.wall_seconds) { json.set("stats", stats_json(*report.wall_seconds)); }
    return json;
}

} // namespace headroom::cli
