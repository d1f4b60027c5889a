#include "calibrate/calibrate_report.hpp"

#include "headroom/comparison.hpp"

namespace headroom::cli {
namespace {

Json interval_json(double value, double low, double high) {
    return Json::object().set("value", value).set("low", low).set("high", high);
}
Json interval_json(fit::Fitted const& one) { return interval_json(one.value, one.low, one.high); }

Json evidence_json(CalibrateAnswer const& answer) {
    Json list = Json::array();
    for (auto const& one : answer.evidence) {
        auto const known = [](std::string const& text) { return text.empty() ? Json{} : Json{text}; };
        list.push(Json::object()
                      .set("name", one.name)
                      .set("kind", one.kind)
                      .set("gives", one.gives)
                      .set("samples", one.samples > 0 ? Json{one.samples} : Json{})
                      .set("from", known(one.from))
                      .set("to", known(one.to))
                      .set("days_before_newest", one.days_old)
                      .set("machine", known(one.machine)));
    }
    return list;
}

Json fits_json(CalibrateAnswer const& answer) {
    Json list = Json::array();
    for (fit::CommunicationFit const& one : answer.links.result.fits) {
        auto const rate = one.bus_bandwidth();
        list.push(Json::object()
                      .set("collective", name_of(one.collective))
                      .set("ranks", one.ranks)
                      .set("nodes", one.nodes)
                      .set("rows", one.residuals.size())
                      .set("segments", one.segments.size())
                      .set("alpha_seconds", interval_json(one.segments.front().alpha_seconds))
                      .set("beta_seconds_per_byte", interval_json(one.segments.back().beta_seconds_per_byte))
                      .set("bus_bandwidth_bytes_per_second", rate && rate->base() > 0.0 ? Json{rate->base()} : Json{})
                      .set("median_relative_error", one.median_relative_error)
                      .set("p90_relative_error", one.p90_relative_error));
    }
    return list;
}

Json link_json(std::optional<MeasuredLink> const& link) {
    if (!link) { return {}; }
    auto const& latency = link->latency_seconds;
    auto const& rate = link->bytes_per_second;
    return Json::object()
        .set("latency_seconds", interval_json(latency.value, latency.low, latency.high))
        .set("bytes_per_second", rate ? interval_json(rate->value, rate->low, rate->high) : Json{})
        .set("source", link->source);
}

Json constants_json(CalibrateAnswer const& answer) {
    Json list = Json::array();
    for (auto const& [id, one] : answer.states.constants) {
        auto const& info = constants()[static_cast<std::size_t>(id)];
        list.push(Json::object()
                      .set("name", info.key)
                      .set("value", one.value)
                      .set("low", one.low)
                      .set("high", one.high)
                      .set("provenance", name_of(one.provenance))
                      .set("source", one.source));
    }
    return list;
}

Json slowdown_json(std::optional<fit::TraceSlowdown> const& slowdown) {
    if (!slowdown) { return {}; }
    return Json::object()
        .set("ratio", interval_json(slowdown->ratio))
        .set("lost_rate", interval_json(slowdown->lost_rate()))
        .set("kernels", slowdown->kernels)
        .set("runs_alone", slowdown->alone)
        .set("runs_beside", slowdown->beside)
        .set("seconds_beside", slowdown->seconds);
}

Json disagreements_json(CalibrateAnswer const& answer) {
    Json list = Json::array();
    for (Disagreement const& one : answer.disagreements) {
        list.push(Json::object()
                      .set("what", one.what)
                      .set("sources", Json::array_of(one.sources))
                      .set("weights", Json::array_of(one.pooled.weights))
                      .set("joined", interval_json(one.pooled.value))
                      .set("ratio", one.pooled.ratio)
                      .set("between_sources", one.pooled.between)
                      .set("heterogeneity", one.pooled.heterogeneity));
    }
    return list;
}

Json scaling_json(CalibrateAnswer const& answer) {
    Json list = Json::array();
    for (CampaignStepsOf const& one : answer.scaling) {
        Json steps = Json::array();
        for (fit::MeasuredWorkers const& step : one.measured.steps) {
            steps.push(Json::object()
                           .set("workers", step.workers)
                           .set("seconds", interval_json(step.seconds))
                           .set("samples", step.samples));
        }
        list.push(Json::object().set("name", one.name).set("kept", one.kept).set("steps", std::move(steps)));
    }
    return list;
}

Json facts_json(CalibrateAnswer const& answer) {
    if (!answer.facts) { return {}; }
    fit::TraceFacts const& facts = *answer.facts;
    return Json::object()
        .set("ranks", facts.ranks)
        .set("steps", facts.steps)
        .set("step_seconds", facts.step_seconds)
        .set("step_variation", facts.step_variation)
        .set("rank_variation", facts.rank_variation)
        .set("hidden_communication", facts.hidden ? interval_json(*facts.hidden) : Json{})
        .set("slowdown_beside_communication", slowdown_json(facts.slowdown))
        .set("matrix_products", facts.matrix_products ? interval_json(facts.matrix_products->share) : Json{})
        .set("collectives_used", answer.collectives ? Json{answer.collectives->used} : Json{})
        .set("collectives_incomplete", answer.collectives ? Json{answer.collectives->incomplete} : Json{})
        .set("collectives_without_size", answer.collectives ? Json{answer.collectives->without_size} : Json{});
}

Sheet sheet_of_fits(CalibrateAnswer const& answer) {
    Sheet sheet{.header = {"collective", "ranks", "nodes", "rows", "alpha_seconds", "alpha_low", "alpha_high",
                           "beta_seconds_per_byte", "beta_low", "beta_high", "median_relative_error"},
                .rows = {}};
    for (fit::CommunicationFit const& one : answer.links.result.fits) {
        auto const& alpha = one.segments.front().alpha_seconds;
        auto const& beta = one.segments.back().beta_seconds_per_byte;
        sheet.rows.push_back({std::string(name_of(one.collective)), std::to_string(one.ranks),
                              std::to_string(one.nodes), std::to_string(one.residuals.size()), exact(alpha.value),
                              exact(alpha.low), exact(alpha.high), exact(beta.value), exact(beta.low), exact(beta.high),
                              exact(one.median_relative_error)});
    }
    return sheet;
}

Sheet sheet_of_constants(CalibrationSet const& set) {
    Sheet sheet{.header = {"constant", "unit", "value", "low", "high", "provenance", "source"}, .rows = {}};
    for (ConstantInfo const& info : constants()) {
        CalibratedConstant const& one = set[info.id];
        sheet.rows.push_back({std::string{info.key}, std::string{info.unit}, exact(one.value), exact(one.low),
                              exact(one.high), std::string{name_of(one.provenance)}, one.source});
    }
    return sheet;
}

} // namespace

Json json_of(CalibrateAnswer const& answer, io::Catalog const& catalog) {
    Json result = result_head("calibrate", catalog, "");
    result.set("evidence", evidence_json(answer))
        .set("fits", fits_json(answer))
        .set("scale_up", link_json(answer.states.network.scale_up))
        .set("scale_out", link_json(answer.states.network.scale_out))
        .set("curves", answer.states.network.curves.size())
        .set("constants", constants_json(answer))
        .set("traces", facts_json(answer))
        .set("measured_steps", answer.states.entries.size())
        .set("disagreements", disagreements_json(answer))
        .set("scaling", scaling_json(answer))
        .set("explain", answer.explains ? explained_json(answer, catalog) : Json{})
        .set("missing", Json::array_of(answer.missing))
        .set("notes", Json::array_of(answer.notes))
        .set("saved", answer.saved.empty() ? Json{} : Json{answer.saved})
        .set("saved_machine", answer.saved_machine.empty() ? Json{} : Json{answer.saved_machine});
    if (answer.wall_seconds) { result.set("stats", stats_json(*answer.wall_seconds)); }
    return result;
}

Sheet sheet_of(CalibrateAnswer const& answer, io::Catalog const& catalog) {
    return answer.explains ? sheet_of_constants(effective(answer, catalog)) : sheet_of_fits(answer);
}

} // namespace headroom::cli
