#include "trace/trace_report.hpp"
#include "trace/trace_words.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

/// A time that a table of totals does not tell.
Json seconds_when(bool known, Ticks ns) { return known ? Json{seconds_of(ns)} : Json{}; }
Json text_or_null(std::string const& text) { return text.empty() ? Json{} : Json{text}; }

/// The split of a window: what `ranks[]` and `steps_detail[]` share.
Json add_times(Json json, DeviceTimes const& times, IdleShares const& idle, bool known) {
    return std::move(json)
        .set("wall_seconds", seconds_when(known, times.window))
        .set("compute_seconds", seconds_of(times.compute))
        .set("communication_seconds", seconds_of(times.communication))
        .set("exposed_communication_seconds", seconds_when(known, times.exposed))
        .set("overlapped_communication_seconds", seconds_when(known, times.overlap))
        .set("memory_seconds", seconds_when(known, times.memory_only))
        .set("idle_seconds", seconds_when(known, times.idle))
        .set("busy_seconds", seconds_when(known, times.busy))
        .set("copies_seconds", seconds_of(times.memory))
        .set("idle", known ? Json::object()
                                 .set("host_bound_seconds", seconds_of(idle.host_bound))
                                 .set("waiting_seconds", seconds_of(idle.waiting))
                                 .set("other_seconds", seconds_of(idle.other))
                           : Json{});
}

Json rank_json(RankDigest const& rank) {
    RankBreakdown const& of = rank.breakdown;
    bool const known = knows_when(rank);
    Json steps = Json::array();
    for (StepShares const& one : of.steps) {
        steps.push(add_times(Json::object()
                                 .set("step", one.step.number)
                                 .set("begin_seconds", seconds_of(one.step.begin))
                                 .set("detected", one.detected),
                             one.shares, one.idle, known));
    }
    Json json =
        add_times(Json::object().set("rank", rank.rank).set("steps", of.steps.size()), of.whole, of.idle, known);
    auto const& count = of.whole.count;
    return json.set("steps_detail", steps)
        .set("on_host", of.on_host)
        .set("intervals",
             Json::object().set("compute", count[0]).set("communication", count[1]).set("memory", count[2]))
        .set("without_launch", of.without_launch)
        .set("source", rank.source)
        .set("format", rank.format)
        .set("rank_from", text_or_null(rank.rank_from))
        .set("host_name", text_or_null(rank.host_name))
        .set("device", text_or_null(rank.device.name))
        .set("events", rank.events)
        .set("bytes_read", rank.bytes_read);
}

Json percentiles_json(Percentiles const& ns) {
    return Json::object()
        .set("p50", seconds_of_ns(ns.p50))
        .set("p90", seconds_of_ns(ns.p90))
        .set("p95", seconds_of_ns(ns.p95))
        .set("p99", seconds_of_ns(ns.p99))
        .set("max", seconds_of_ns(ns.max));
}

Json kernels_json(TraceReport const& report) {
    Json all = Json::array();
    bool const single = knows_when(report.answer()); // rows of a table of totals stand for many runs
    std::size_t shown = 0;
    for (NameTotal const& one : kernels_of(report.answer().ranks)) {
        if (shown++ == report.top) { break; }
        all.push(Json::object()
                     .set("name", one.name)
                     .set("kind", name_of(one.kind))
                     .set("count", one.count)
                     .set("seconds", seconds_of(one.total))
                     .set("shortest_seconds", seconds_when(single, one.shortest))
                     .set("longest_seconds", seconds_when(single, one.longest)));
    }
    return all;
}

Json stragglers_json(TraceAnswer const& answer) {
    Json all = Json::array();
    for (Straggler const& one : answer.stragglers) {
        all.push(Json::object()
                     .set("rank", one.rank)
                     .set("why", one.why)
                     .set("share", one.share)
                     .set("cost_seconds", seconds_of(one.cost)));
    }
    return all;
}

Json expected_json(TraceAnswer const& answer) {
    Json all = Json::array();
    for (ExpectedSpeedup const& one : answer.expected) {
        all.push(Json::object()
                     .set("workers", one.workers)
                     .set("speedup", one.speedup_over_now)
                     .set("efficiency", one.efficiency));
    }
    return all;
}

Json issues_json(std::vector<TraceIssue> const& issues) {
    Json all = Json::array();
    for (TraceIssue const& one : issues) {
        all.push(
            Json::object().set("kind", one.kind).set("count", one.count).set("first_at", text_or_null(one.first_at)));
    }
    return all;
}

Json serial_json(std::optional<MeasuredSerial> const& serial) {
    return serial ? Json::object().set("value", serial->value).set("at_workers", serial->at_workers) : Json{};
}

Json stats_of(TraceReport const& report) {
    double const read = report.outcome.read_seconds;
    auto const rate = [read](std::uint64_t bytes) {
        return read > 0.0 ? Json{static_cast<double>(bytes) / read} : Json{};
    };
    return stats_json(*report.wall_seconds)
        .set("read_seconds", read)
        .set("text_bytes_per_second", rate(report.answer().text_bytes))
        .set("read_bytes_per_second", rate(report.answer().bytes_read));
}

} // namespace

Json ranks_json(TraceAnswer const& answer) {
    Json all = Json::array();
    for (RankDigest const& rank : answer.ranks) { all.push(rank_json(rank)); }
    return all;
}

namespace {

Json skew_json(CollectiveAnswer const& collectives) {
    if (collectives.matched.empty()) { return {}; }
    return Json::object()
        .set("matched", collectives.matched.size())
        .set("unmatched", collectives.unmatched)
        .set("start_seconds", percentiles_json(collectives.start_skew_ns))
        .set("end_seconds", percentiles_json(collectives.end_skew_ns));
}

/// What the ranks say together.
void add_scaling(Json& json, TraceAnswer const& answer) {
    json.set("serial_fraction", serial_json(answer.serial))
        .set("gamma", answer.gamma)
        .set("overlap_fraction", answer.overlap_fraction)
        .set("speedup_ceiling", answer.ceiling)
        .set("speedup_ceiling_over_one_worker", answer.ceiling_over_one_worker)
        .set("expected_speedups", expected_json(answer))
        .set("step_seconds", answer.step_ns ? percentiles_json(*answer.step_ns) : Json{})
        .set("stragglers", stragglers_json(answer));
}

std::vector<std::string> notes_of(TraceAnswer const& answer) {
    std::vector<std::string> notes = answer.notes;
    notes.insert(notes.end(), answer.collectives.notes.begin(), answer.collectives.notes.end());
    return notes;
}

} // namespace

Json json_of(TraceReport const& report, Json head) {
    TraceAnswer const& answer = report.answer();
    Json json = std::move(head);
    json.set("verdict", Json::array_of(verdict_of(answer)))
        .set("complete", report.outcome.complete)
        .set("workers", answer.workers)
        .set("ranks", ranks_json(answer));
    add_scaling(json, answer);
    json.set("collectives", collectives_json(answer.collectives))
        .set("skew", skew_json(answer.collectives))
        .set("waiting", waiting_json(answer.collectives))
        .set("clocks", clocks_json(answer.collectives))
        .set("critical_path", path_json(answer.path))
        .set("kernels", kernels_json(report))
        .set("shaped_kernels", shaped_json(report))
        .set("issues", issues_json(answer.issues))
        .set("unread", Json::array_of(report.outcome.unread))
        .set("bytes_read", answer.bytes_read)
        .set("text_bytes", answer.text_bytes)
        .set("events", answer.events)
        .set("notes", Json::array_of(notes_of(answer)))
        .set("baseline", report.comparison ? comparison_json(*report.comparison) : Json{})
        .set("gates", gates_json(report.gates));
    if (report.wall_seconds) { json.set("stats", stats_of(report)); }
    return json;
}

Sheet sheet_of(TraceReport const& report) {
    Sheet sheet{{"rank", "step", "wall_seconds", "compute_seconds", "communication_seconds",
                 "exposed_communication_seconds", "overlapped_communication_seconds", "memory_seconds", "idle_seconds",
                 "idle_host_bound_seconds", "idle_waiting_seconds", "idle_other_seconds", "source"},
                {}};
    auto const add = [&sheet](RankDigest const& rank, std::string step, DeviceTimes const& times,
                              IdleShares const& idle) {
        auto& row = sheet.rows.emplace_back(std::vector<std::string>{std::to_string(rank.rank), std::move(step)});
        bool const known = knows_when(rank);
        auto const put = [&row](bool tells, Ticks ns) { row.push_back(tells ? exact(seconds_of(ns)) : ""); };
        put(known, times.window);
        put(true, times.compute);
        put(true, times.communication);
        for (Ticks const ns :
             {times.exposed, times.overlap, times.memory_only, times.idle, idle.host_bound, idle.waiting, idle.other}) {
            put(known, ns);
        }
        row.push_back(rank.source);
    };
    for (RankDigest const& rank : report.answer().ranks) {
        add(rank, "", rank.breakdown.whole, rank.breakdown.idle);
        for (StepShares const& step : rank.breakdown.steps) {
            add(rank, std::to_string(step.step.number), step.shares, step.idle);
        }
    }
    return sheet;
}

} // namespace headroom::cli
