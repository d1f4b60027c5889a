#include "measure/scaling_answer.hpp"

namespace headroom::cli {

using namespace headroom::measure;

namespace {

Json facts_json(Facts const& facts) {
    Json json = Json::object();
    for (auto const& [name, value] : facts) { json.set(name, value); }
    return json;
}

Json question_json(ScalingQuestion const& question) {
    return Json::object()
        .set("command", Json::array_of(question.words))
        .set("shell", question.shell)
        .set("prepare", question.prepare.empty() ? Json{} : Json{question.prepare})
        .set("workers", Json::array_of(question.workers))
        .set("mode", fit::name_of(question.scaling))
        .set("problem", question.problem)
        .set("repeats", question.repeats)
        .set("warm_up", question.warm_up)
        .set("seed", question.seed)
        .set("timeout_seconds", question.timeout_seconds)
        .set("result", question.pattern.empty() ? Json{} : Json{question.pattern})
        .set("result_unit", question.pattern.empty() ? Json{} : Json{io::name_of(question.unit)});
}

Json summary_json(std::optional<SampleSummary> const& summary) {
    if (!summary) { return {}; }
    return Json::object()
        .set("median", summary->median)
        .set("low", summary->low)
        .set("high", summary->high)
        .set("coverage", summary->coverage)
        .set("least", summary->least)
        .set("most", summary->most)
        .set("mean", summary->mean)
        .set("spread", summary->spread);
}

Json row_json(ScalingRow const& row) {
    return Json::object()
        .set("workers", row.workers)
        .set("size", row.size)
        .set("command", row.command)
        .set("runs", row.taken)
        .set("planned", row.planned)
        .set("warm_ups", row.warm_ups)
        .set("failed", row.failed)
        .set("timed_out", row.timed_out)
        .set("unreadable", row.unreadable)
        .set("first_message", row.first_message.empty() ? Json{} : Json{row.first_message})
        .set("values", Json::array_of(row.values))
        .set("summary", summary_json(row.summary))
        .set("speedup", row.speedup)
        .set("speedup_low", row.speedup_low)
        .set("speedup_high", row.speedup_high)
        .set("efficiency", row.efficiency);
}

Json warnings_json(std::vector<ScalingWarning> const& warnings) {
    Json json = Json::array();
    for (ScalingWarning const& one : warnings) {
        json.push(Json::object().set("kind", one.kind).set("text", one.text));
    }
    return json;
}

Json serial_json(ScalingAnswer const& answer) {
    if (!answer.fit || !answer.fit->report.karp_flatt || answer.fit->report.karp_flatt->points.empty()) { return {}; }
    fit::KarpFlattPoint const& last = answer.fit->report.karp_flatt->points.back();
    return Json::object()
        .set("value", last.serial_fraction)
        .set("at_workers", last.workers)
        .set("over_workers", answer.fit->report.karp_flatt->baseline);
}

Json fit_json(ScalingAnswer const& answer) {
    if (!answer.fit) { return {}; }
    Json json = Json::object();
    add_fit_members(json, *answer.fit);
    return json;
}

} // namespace

Json json_of(ScalingAnswer const& answer, io::Catalog const& catalog) {
    Json rows = Json::array();
    for (ScalingRow const& row : answer.rows) { rows.push(row_json(row)); }
    bool const kept = !answer.store.empty();
    Json json = result_head("measure_scaling", catalog, "");
    json.set("dry_run", false)
        .set("question", question_json(answer.question))
        .set("campaign", kept ? Json{answer.campaign.id} : Json{})
        .set("store", kept ? Json{answer.store} : Json{})
        .set("state", name_of(answer.campaign.state))
        .set("complete", answer.complete)
        .set("samples", answer.campaign.samples.size())
        .set("resumed_samples", answer.resumed)
        .set("machine", facts_json(answer.campaign.machine))
        .set("load_before", answer.noticed.load_before)
        .set("unit", answer.question.throughput() ? "items/second" : "seconds")
        .set("rows", rows)
        .set("failures", answer.failures())
        .set("first_message", answer.first_message().empty() ? Json{} : Json{answer.first_message()})
        .set("warnings", warnings_json(answer.warnings))
        .set("serial_fraction", serial_json(answer))
        .set("stop", answer.fit && answer.fit->of_steps() ? Json{stop_words(*answer.fit)} : Json{})
        .set("fit", fit_json(answer))
        .set("why_no_fit", answer.fit ? Json{} : Json{answer.why_no_fit});
    if (answer.wall_seconds) { json.set("stats", stats_json(*answer.wall_seconds)); }
    return json;
}

Json json_of(ScalingPlan const& plan, io::Catalog const& catalog) {
    Json order = Json::array();
    for (PlannedRun const& run : plan.left) {
        int const workers = plan.question.workers.at(run.point);
        order.push(Json::object()
                       .set("workers", workers)
                       .set("repetition", run.repetition)
                       .set("warm_up", run.warm_up)
                       .set("command", command_words(command_at(plan.question, workers).words)));
    }
    Json json = result_head("measure_scaling", catalog, "");
    json.set("dry_run", true)
        .set("question", question_json(plan.question))
        .set("resumed_samples", plan.there)
        .set("order", order)
        .set("estimate_seconds", plan.estimate_seconds)
        .set("estimated_from", plan.estimated_from)
        .set("at_most_seconds", plan.at_most_seconds);
    return json;
}

} // namespace headroom::cli
