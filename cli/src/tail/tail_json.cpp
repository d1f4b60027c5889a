#include "tail/tail_report.hpp"

namespace headroom::cli {
namespace {

Json percentiles_json(std::vector<TailPercentile> const& rows, TailUnit unit) {
    Json json = Json::object();
    for (TailPercentile const& row : rows) {
        json.set(percentile_name(row.q), Json::object()
                                             .set(unit.key("value"), row.value)
                                             .set(unit.key("low"), row.low)
                                             .set(unit.key("high"), row.high)
                                             .set("coverage", row.coverage)
                                             .set("samples_beyond", row.samples_beyond)
                                             .set("samples_needed", row.samples_needed)
                                             .set(unit.key("corrected"), row.corrected)
                                             .set("stated", row.stated));
    }
    return json;
}

Json omission_json(std::optional<OmissionFinding> const& omission) {
    if (!omission) { return {}; }
    return Json::object()
        .set("suspected", omission->suspected)
        .set("interval_seconds", omission->interval > 0.0 ? Json{omission->interval} : Json{})
        .set("affected_samples", omission->affected)
        .set("missing_requests", omission->missing)
        .set("why", omission->why);
}

Json changes_json(TailSource const& source, TailUnit unit) {
    Json json = Json::array();
    for (ChangePoint const& one : source.changes) {
        json.push(Json::object()
                      .set("at_seconds", source.changes_by_time ? Json{one.at} : Json{})
                      .set("at_sample", source.changes_by_time ? Json{} : Json{one.at})
                      .set(unit.key("mean_before"), one.before)
                      .set(unit.key("mean_after"), one.after)
                      .set("probability", one.probability));
    }
    return json;
}

Json dirt_json(TailSource const& source) {
    Json json = Json::array();
    for (io::LatencySamples::Dirt const& one : source.dirt) {
        json.push(Json::object()
                      .set("kind", one.kind)
                      .set("count", one.count)
                      .set("first_line", one.first_line)
                      .set("kept", one.kept));
    }
    return json;
}

Json steps_json(std::optional<SynchronousSteps> const& steps) {
    if (!steps) { return {}; }
    Json slow = Json::array();
    for (SlowRank const& one : steps->slow) {
        slow.push(Json::object()
                      .set("rank", one.rank)
                      .set("slowest_steps", one.slowest)
                      .set("probability", one.probability)
                      .set("mean_seconds", one.mean_seconds));
    }
    return Json::object()
        .set("ranks", steps->ranks)
        .set("steps", steps->steps)
        .set("mean_seconds", steps->mean_seconds)
        .set("slowest_seconds", steps->slowest_seconds)
        .set("slowdown", steps->slowdown)
        .set("independent_slowdown", steps->independent_slowdown)
        .set("stragglers", slow);
}

Json source_json(TailSource const& source, TailUnit unit) {
    return Json::object()
        .set("name", source.name)
        .set("format", source.format)
        .set("column", source.column.empty() ? Json{} : Json{source.column})
        .set("unit", source.unit)
        .set("unit_from", source.unit_from)
        .set("samples", source.count)
        .set("rows", source.rows)
        .set("histogram_error", source.histogram_error)
        .set("duration_seconds", source.duration_seconds > 0.0 ? Json{source.duration_seconds} : Json{})
        .set("independent_share", source.worth.body)
        .set("independent_tail_share", source.worth.tail)
        .set("times_backwards", source.times_backwards)
        .set("first_backwards", source.first_backwards)
        .set("omission", omission_json(source.omission))
        .set("changes", changes_json(source, unit))
        .set("left_out", dirt_json(source))
        .set("steps", steps_json(source.steps))
        .set("notes", Json::array_of(source.notes));
}

Json fits_json(TailAnswer const& answer) {
    std::vector<fit::TailFit> fits = answer.fits;
    if (answer.tail_fit) { fits.push_back(*answer.tail_fit); }
    Json json = Json::array();
    for (fit::TailFit const& one : fits) {
        bool const tail = one.distribution.family == TailFamily::pareto_tail;
        json.push(Json::object()
                      .set("family", name_of(one.distribution.family))
                      .set("a", one.distribution.a)
                      .set("a_error", one.a_error)
                      .set("b", one.distribution.b)
                      .set("b_error", one.b_error)
                      .set("threshold", tail ? Json{one.distribution.threshold} : Json{})
                      .set("share_beyond", tail ? Json{one.distribution.share_beyond} : Json{})
                      .set("aicc", one.aicc)
                      .set("distance", one.distance)
                      .set("tail_error", one.tail_error)
                      .set(answer.unit.key("p99.99"), one.distribution.quantile(0.9999)));
    }
    return json;
}

Json samples_json(TailAnswer const& answer) {
    TailSet const& set = answer.set;
    if (!answer.has_samples()) {
        return Json::object()
            .set("count", 0)
            .set("stated_count", set.stated_count)
            .set(answer.unit.key("mean"), set.stated_mean > 0.0 ? Json{set.stated_mean} : Json{});
    }
    double const mean = set.values.mean();
    return Json::object()
        .set("count", set.values.count())
        .set("stated_count", Json{})
        .set(answer.unit.key("mean"), mean)
        .set("squared_variation", mean > 0.0 ? Json{set.values.variance() / (mean * mean)} : Json{})
        .set(answer.unit.key("least"), set.values.least())
        .set(answer.unit.key("most"), set.values.most())
        .set("relative_error", LatencyHistogram::relative_error)
        .set("independent_share", set.worth.body)
        .set("independent_tail_share", set.worth.tail)
        .set("arrivals_per_second", set.arrivals_per_second);
}

} // namespace

Json json_of(TailAnswer const& answer, io::Catalog const& catalog) {
    TailUnit const unit = answer.unit;
    Json sources = Json::array(), each = Json::array();
    for (TailSource const& source : answer.set.sources) {
        sources.push(source_json(source, unit));
        if (answer.question.each) {
            each.push(Json::object()
                          .set("name", source.name)
                          .set("samples", source.count)
                          .set("percentiles", percentiles_json(source.percentiles, unit)));
        }
    }
    bool const seen = answer.has_samples();
    Json json = result_head("tail", catalog, "");
    json.set("unit", unit.times ? "seconds" : "1")
        .set("verdict", Json::array_of(verdict_of(answer)))
        .set("warnings", Json::array_of(warnings_of(answer)))
        .set("samples", samples_json(answer))
        .set("sources", sources)
        .set("coverage", answer.question.coverage)
        .set("percentiles", percentiles_json(answer.set.percentiles, unit))
        .set("each", answer.question.each ? each : Json{})
        .set("slow",
             seen ? Json::object().set(unit.key("threshold"), answer.slow).set("share", answer.slow_share) : Json{})
        .set("fan_out", fan_out_json(answer))
        .set("fits", answer.question.fit ? fits_json(answer) : Json{})
        .set("why_no_fit", answer.why_no_fit.empty() ? Json{} : Json{answer.why_no_fit})
        .set("hedging", hedging_json(answer))
        .set("comparison", comparison_json(answer))
        .set("replicas_for_slo", replicas_json(answer));
    if (!answer.gates.empty()) { json.set("gates", gates_json(answer.gates)); }
    if (answer.wall_seconds) { json.set("stats", stats_json(*answer.wall_seconds)); }
    return json;
}

Sheet sheet_of(TailAnswer const& answer) {
    TailUnit const unit = answer.unit;
    Sheet sheet{{"samples", "percentile", "quantile", unit.key("value"), unit.key("low"), unit.key("high"), "coverage",
                 "samples_beyond", "samples_needed", unit.key("corrected")},
                {}};
    auto const cell = [](std::optional<double> value) { return value ? exact(*value) : std::string{}; };
    auto const add = [&](std::string const& name, std::vector<TailPercentile> const& rows) {
        for (TailPercentile const& row : rows) {
            sheet.rows.push_back({name, percentile_name(row.q), exact(row.q), cell(row.value), cell(row.low),
                                  cell(row.high), exact(row.coverage), std::to_string(row.samples_beyond),
                                  std::to_string(row.samples_needed), cell(row.corrected)});
        }
    };
    if (answer.question.each) {
        for (TailSource const& source : answer.set.sources) { add(source.name, source.percentiles); }
    }
    add("all", answer.set.percentiles);
    return sheet;
}

} // namespace headroom::cli
