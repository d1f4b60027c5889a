#pragma once

#include "trace/host_pieces.hpp"
#include "trace/step_window.hpp"

#include "headroom/trace/trace_path.hpp"

#include <cstdint>
#include <vector>

namespace headroom::trace::path {

/// One end of a dependency before tasks have numbers.
struct TieEnd {
    bool work = false;       ///< a piece of work of a lane; else a thread
    std::uint32_t slot = 0;  ///< of the lane
    std::uint32_t index = 0; ///< of the work
    Ticks at = 0;            ///< on a thread: what ended by then; what begins from then on
};
inline TieEnd work_at(std::uint32_t slot, std::size_t index) {
    return {.work = true, .slot = slot, .index = static_cast<std::uint32_t>(index)};
}
inline TieEnd thread_at(std::uint32_t slot, Ticks at) { return {.slot = slot, .at = at}; }

struct Tie {
    TieEnd from, to;
    TraceEdge why = TraceEdge::program;
    Ticks least = 0; ///< that passes between the two at least
};

/// Counts for a step's notes, collected while its graph is built.
struct TieCounts {
    std::size_t early = 0;       ///< work that begins before its launch
    std::size_t beside = 0;      ///< work that overlaps with what its own stream did before
    std::size_t backward = 0;    ///< dependencies that do not lead forward in time
    std::size_t inferred = 0;    ///< waits that nobody states
    std::size_t by_order = 0;    ///< collectives that wait for what was launched before them
    std::size_t full_queues = 0; ///< launches that waited for room in a queue
    std::size_t late = 0;        ///< work that began later than anything known explains
    Ticks late_by = 0;
};

/// A step on its way to a graph.
struct StepDraft {
    RankTrace const& trace;
    Launches const& launches;
    StepWindow window;
    std::vector<HostLane> hosts;          ///< of the window's threads
    std::vector<std::uint32_t> host_slot; ///< by lane of the trace; `none`: no thread of the window
    std::vector<std::uint32_t> work_slot; ///< by lane of the trace
    Ticks rounding = 0;                   ///< by which times may be wrong: 2 us where all are whole microseconds
    std::vector<Tie> ties;
    TieCounts counts = {};
};

StepDraft step_draft(RankTrace const& trace, TraceStep const& step, Launches const& launches);

/// Work in the order of its stream. A stream may run several at once (graphs): each waits for all that had ended.
void tie_streams(StepDraft& draft);
/// Work waits for the call that launched it: for all of it, or for what was before where it began during the call, and
/// for the smallest time that any of the step had from the begin of its call. A copy that ends during its own call is
/// one that the call waits for.
void tie_launches(StepDraft& draft);
/// Streams wait for events of other streams, where that is stated.
void tie_stated_waits(StepDraft& draft);
/// Where no events are stated for its stream, a collective waits for the computation that its thread launched last before
/// it, at any gap between the two (as torch.distributed has it); not where they overlap.
void tie_collectives(StepDraft& draft);
/// Calls that wait for a stream or a device end after what was launched before them.
void tie_synchronizations(StepDraft& draft);
/// Calls that take long while hundreds of launches are waiting end when one of them is done.
void tie_full_queues(StepDraft& draft);
/// Transfers of a host's own threads wait for the call that asks for them; what then begins at their end waited for them.
void tie_transfers(StepDraft& draft);
/// Threads start when another hands over to them, and that one waits when it does nothing until they are done.
void tie_threads(StepDraft& draft);

/// Tasks in order of time, edges by the task that waits.
StepGraph finished_graph(StepDraft& draft, TraceStep const& step, CollectiveRuns const& runs);

} // namespace headroom::trace::path
