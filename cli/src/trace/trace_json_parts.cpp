#include "trace/trace_report.hpp"
#include "trace/trace_words.hpp"

namespace headroom::cli {
namespace {

constexpr std::size_t most_pieces = 10'000; ///< of the path: what a reader of JSON can use

Json pieces_json(PathAnswer const& path) {
    Json all = Json::array();
    std::size_t told = 0;
    for (PathPiece const& piece : path.pieces) {
        if (told++ == most_pieces) { break; }
        all.push(Json::object()
                     .set("rank", piece.rank)
                     .set("name", piece.name)
                     .set("lane", piece.lane)
                     .set("kind", name_of(piece.kind))
                     .set("after", name_of(piece.why))
                     .set("begin_seconds", seconds_of(piece.begin))
                     .set("seconds", seconds_of(piece.duration))
                     .set("delay_seconds", seconds_of(piece.delay))
                     .set("tasks", piece.tasks));
    }
    return all;
}

Json changes_json(std::vector<TraceChange> const& changes) {
    Json all = Json::array();
    for (TraceChange const& one : changes) {
        all.push(Json::object()
                     .set("name", one.name)
                     .set("count_before", one.count_before)
                     .set("count_after", one.count_after)
                     .set("before_seconds", seconds_of_ns(one.before_ns))
                     .set("after_seconds", seconds_of_ns(one.after_ns)));
    }
    return all;
}

} // namespace

Json path_json(std::optional<PathAnswer> const& path) {
    if (!path || path->tasks == 0) { return {}; }
    Json kinds = Json::object();
    for (SpanKind const kind : span_kinds) {
        kinds.set(name_of(kind), seconds_of(path->by_kind[static_cast<std::size_t>(kind)]));
    }
    kinds.set("delay", seconds_of(path->delays));
    Json delays = Json::object();
    for (TraceEdge const edge : trace_edges) {
        delays.set(name_of(edge), seconds_of(path->delays_by[static_cast<std::size_t>(edge)]));
    }
    Json names = Json::array();
    for (PathName const& one : path->names) {
        names.push(Json::object()
                       .set("name", one.name)
                       .set("kind", name_of(one.kind))
                       .set("count", one.count)
                       .set("seconds", seconds_of(one.duration)));
    }
    Json levers = Json::array();
    for (StepIf const& one : path->what_if) {
        levers.push(
            Json::object().set("what", one.what).set("step_seconds", seconds_of(one.step)).set("speedup", one.speedup));
    }
    return Json::object()
        .set("work_seconds", seconds_of(path->work))
        .set("depth_seconds", seconds_of(path->depth))
        .set("parallelism", path->parallelism)
        .set("step_seconds", seconds_of(path->measured))
        .set("tasks", path->tasks)
        .set("edges", path->edges)
        .set("by_kind", kinds)
        .set("delays", delays)
        .set("by_name", names)
        .set("what_if", levers)
        .set("piece_count", path->pieces.size())
        .set("pieces", pieces_json(*path))
        .set("notes", Json::array_of(path->notes));
}

Json collectives_json(CollectiveAnswer const& collectives) {
    Json all = Json::array();
    for (CollectiveSummary const& one : collectives.summaries) {
        all.push(Json::object()
                     .set("name", one.name)
                     .set("ranks", one.ranks)
                     .set("bytes", one.bytes > 0 ? Json{one.bytes} : Json{})
                     .set("count", one.count)
                     .set("seconds", seconds_of(one.seconds_of_ranks))
                     .set("transfer_seconds", one.transfer > 0 ? Json{seconds_of(one.transfer)} : Json{})
                     .set("bus_bandwidth_bytes_per_second", one.bus_bandwidth)
                     .set("transfer_bus_bandwidth_bytes_per_second", one.transfer_bandwidth));
    }
    return all;
}

Json waiting_json(CollectiveAnswer const& collectives) {
    Json all = Json::array();
    for (RankWaiting const& one : collectives.waiting) {
        all.push(Json::object()
                     .set("rank", one.rank)
                     .set("last", one.last)
                     .set("waited_seconds", seconds_of(one.waited))
                     .set("kept_waiting_seconds", seconds_of(one.kept_waiting)));
    }
    return all;
}

Json clocks_json(CollectiveAnswer const& collectives) {
    Json all = Json::array();
    for (ClockOffset const& one : collectives.clocks) {
        all.push(Json::object()
                     .set("rank", one.rank)
                     .set("offset_seconds", seconds_of(one.offset))
                     .set("spread_seconds", seconds_of(one.spread))
                     .set("from_collectives", one.from)
                     .set("corrected", one.corrected));
    }
    return all;
}

Json comparison_json(TraceComparison const& comparison) {
    return Json::object()
        .set("per_step", comparison.per_step)
        .set("parts", changes_json(comparison.parts))
        .set("kernels", changes_json(comparison.kernels));
}

} // namespace headroom::cli
