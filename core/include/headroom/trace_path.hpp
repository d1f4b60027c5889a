#pragma once

#include "headroom/dag.hpp"
#include "headroom/rank_trace.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Why one task of a trace waits for another.
enum class TraceEdge : std::uint8_t {
    program,   ///< what the same thread did before
    launch,    ///< the call that started it
    stream,    ///< what its stream did before
    wait,      ///< an event, or a host that waits for its device
    handover,  ///< the thread that started another's work (forward to backward)
    collective ///< what other ranks had to bring
};

/// One step of one rank as tasks with the time that each takes alone, and what each waits for. What a task is told by
/// its interval; host intervals that nest are told by their own time, the innermost first.
struct StepGraph {
    std::int64_t rank = 0;
    TraceStep step;
    std::vector<Ticks> cost, begin;  ///< by task
    std::vector<SpanKind> kind;      ///< by task
    std::vector<std::uint32_t> name; ///< by task, into `names`
    std::vector<std::uint32_t> lane; ///< by task, into `lanes`
    std::vector<std::int32_t>
        collective; ///< by task: the number of its run among the rank's `collective_runs`; -1: none
    std::vector<Edge> edges;
    std::vector<TraceEdge> edge_kind; ///< by edge
    std::vector<Ticks> edge_delay;    ///< by edge: time that passes between the two whatever else happens
    std::vector<std::string> names, lanes;
    std::vector<std::string> notes; ///< what could not be tied
};

/// The tasks of a step and their dependencies: launches to kernels, streams in order, events, waits of the host.
StepGraph step_graph(RankTrace const& trace, TraceStep const& step);

/// A piece of the critical path.
struct PathPiece {
    std::int64_t rank = 0;
    std::uint32_t task = 0; ///< of that rank's graph
    std::string name, lane;
    SpanKind kind = SpanKind::host;
    TraceEdge why = TraceEdge::program; ///< what it waited for
    Ticks begin = 0, duration = 0;      ///< on the path; `begin` after the begin of the step
    Ticks delay = 0;                    ///< between the piece before and this
};

/// The step if one thing were different.
struct StepIf {
    std::string what; ///< "communication is free", "NAME twice as fast", "no launch delays"
    Ticks step = 0;   ///< depth of the graph with it
    double speedup = 1.0;
};

/// Work, depth and the critical path of a step, across ranks where there are several.
struct PathAnswer {
    Ticks work = 0;                                 ///< W: sum of the costs of all tasks
    Ticks depth = 0;                                ///< D: longest chain of costs and delays
    double parallelism = 0.0;                       ///< W / D
    std::array<Ticks, span_kinds.size()> by_kind{}; ///< of the path, by kind
    Ticks delays = 0;                               ///< of the path, between tasks
    Ticks measured = 0;                             ///< the step as it was
    std::vector<PathPiece> pieces;
    std::vector<StepIf> what_if;
    std::size_t tasks = 0, edges = 0;
    std::vector<std::string> notes;
};

/// A link between ranks: run `run` of rank index `rank` belongs to matched collective `matched`.
struct CollectiveLink {
    std::uint32_t rank = 0; ///< index into the graphs
    std::int32_t run = 0;
    std::uint32_t matched = 0;
    Ticks transfer = 0; ///< of the matched collective: last begin to last end
};

/// Joins the graphs of all ranks at their collectives and measures the whole. `clock_offset` by graph.
PathAnswer critical_path(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                         std::vector<Ticks> const& clock_offset);

} // namespace headroom
