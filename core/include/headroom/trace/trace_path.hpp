#pragma once

#include "headroom/executor.hpp"
#include "headroom/fields.hpp"
#include "headroom/laws/dag.hpp"
#include "headroom/laws/task_graph.hpp"
#include "headroom/trace/rank_trace.hpp"
#include "headroom/trace/trace_collectives.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::trace {

/// Why one task of a trace waits for another.
enum class TraceEdge : std::uint8_t {
    program,   ///< previous work of the same thread
    launch,    ///< the call that started it
    stream,    ///< previous work on its stream
    wait,      ///< an event, or a host that waits for its device
    handover,  ///< the thread that started another's work (forward to backward)
    collective ///< arrival and data of other ranks
};
inline constexpr std::array trace_edges{TraceEdge::program, TraceEdge::launch,   TraceEdge::stream,
                                        TraceEdge::wait,    TraceEdge::handover, TraceEdge::collective};
std::string_view name_of(TraceEdge edge);

/// One step of one rank as tasks with the time that each takes alone, and what each waits for. A host's intervals that
/// nest are counted by their own time: a task is a part of an interval in which nothing that it calls runs, cut where
/// something else leaves the thread or is waited for. Time in which a call waits for the device is in no task.
///
/// Task 0 is the begin of the step. Every task begins when the last of what it waits for has ended and the delay of
/// that edge has passed; what nothing explains is delay, too. So the longest path is as long as the step was.
/// Holds for:  edges lead from smaller to larger numbers and forward in time, sorted by `to`; tasks are numbered by begin.
struct StepGraph {
    std::int64_t rank = 0;
    std::int64_t epoch_ns = 0; ///< of the rank's trace: `begin` counts from it
    TraceStep step;
    std::vector<Ticks> cost, begin;      ///< by task
    std::vector<SpanKind> kind;          ///< by task
    std::vector<std::uint32_t> name;     ///< by task, into `names`
    std::vector<std::uint32_t> lane;     ///< by task, into `lanes`
    std::vector<std::uint32_t> interval; ///< by task: pieces of one interval of the trace have one number
    std::vector<std::int32_t>
        collective; ///< by task: the number of its run among the rank's `collective_runs`; -1: none
    std::vector<laws::Edge> edges;
    std::vector<TraceEdge> edge_kind; ///< by edge
    std::vector<Ticks> edge_delay;    ///< by edge: time that passes between the two whatever else happens
    std::vector<std::string> names, lanes;
    std::vector<std::string> notes; ///< tasks that could not be tied
};

/// The tasks of a step and their dependencies: launches to kernels, streams in order, events, waits of the host.
///
/// The window is the step's on the host. Of the device it holds what ran in it, and after its end as much as the device
/// fell further behind the host during the step (a step that ends with kernels still to run lasts until they are done;
/// where the device was as far behind when the step began, it does not).
///     launch      a kernel begins after its call, or after the part of it that was before, and not earlier after the
///                 call's begin than the quickest kernel of the step that found its stream idle
///     stream      a kernel begins after what its stream had ended before
///     wait        events and synchronization as the trace states them; a call that waits and says not for what waits
///                 for the work that ended last during it; a collective whose stream has no stated events waits for the
///                 computation that its thread launched last before it, at any gap; other work that begins within 5 us
///                 (or a tenth of what else is unexplained) after that of another stream, one of both a transfer, and
///                 10 us after all else that it waits for, is taken to wait for it
///     handover    a thread that begins after 20 us of nothing waits for the main one; that waits for another thread
///                 where it does nothing (or stays in one operator) while the other begins and ends its work
/// Holds for:  any trace; O(n log n). What would lead backward in time is left out and counted in the notes.
StepGraph step_graph(RankTrace const& trace, TraceStep const& step);
/// Graph of a step where the runs of collectives are known already.
StepGraph step_graph(RankTrace const& trace, TraceStep const& step, CollectiveRuns const& runs);

/// A piece of the critical path: tasks of one lane that follow each other on it.
struct PathPiece {
    std::int64_t rank = 0;
    std::uint32_t task = 0;             ///< the first of them, of that rank's graph
    std::string name, lane;             ///< the name that has most of its time
    SpanKind kind = SpanKind::host;     ///< of that name
    TraceEdge why = TraceEdge::program; ///< reason for which the first waited
    Ticks begin = 0, duration = 0;      ///< on the path; `begin` after the begin of the step
    Ticks delay = 0;                    ///< between the piece before and this, and between its tasks
    std::uint32_t tasks = 1;
    std::uint32_t names = 1; ///< different ones among them
};

/// All of one name on the path.
struct PathName {
    std::string name;
    SpanKind kind = SpanKind::host;
    std::int64_t count = 0; ///< intervals of the trace, in however many pieces they are on the path
    Ticks duration = 0;
};

/// A change of a step whose effect is measured on its graph.
enum class StepChange : std::uint8_t {
    free_communication,
    faster_communication, ///< twice as fast, as are the two below
    faster_host,
    faster_kernel, ///< kernels of one name
    faster_call,   ///< calls or operators of hosts of one name
    faster_family, ///< kernels that do one sort of work: matrix products
    free_group,    ///< communication in process groups of one size and distance of ranks
    free_allocator,
    free_copies, ///< copies and fills
    no_host_waits,
    no_launch_delays,
    no_late_ranks,
};

/// Time of the step with one change.
struct StepIf {
    StepChange change = StepChange::free_communication;
    std::string kernel; ///< or call, family, group: of changes that are of one alone
    Ticks step = 0;     ///< depth of the changed graph
    double speedup = 1.0;
};
/// "communication is free", "NAME twice as fast", "no launch delays"
std::string words_of(StepIf const& one);

/// Reason for which a step takes as long as it does, with a remedy: a row each in core/src/trace/advice_words.cpp.
enum class AdviceRule : std::uint8_t {
    unrecorded,            ///< nearly all of the path is time in which nothing was recorded
    unexplained_delays,    ///< device work begins later than launch, stream and events explain, for half of the path
    idle_start,            ///< nothing runs on the device for long; of a file without steps
    allocator,             ///< calls that take or return device memory
    blocking_calls,        ///< the host waits for the device
    data_loading,          ///< the next batch comes late
    late_ranks,            ///< ranks wait for others, for a reason that the traces do not tell
    slow_rank,             ///< they wait for a rank whose kernels all take longer
    more_work,             ///< ... that has more to compute
    late_host,             ///< ... that launches late
    experts,               ///< ranks wait for each other in all-to-all exchanges
    pipeline_bubble,       ///< ... in sends and receives
    exposed_communication, ///< transfers on the path
    copies,                ///< copies between host and device, and fills, on the path
    pageable_copies,       ///< copies, where most are from or to pageable memory
    device_copies,         ///< copies, where most are copies inside a device
    small_kernels,         ///< many short kernels of one name in a row
    launches,              ///< the host launches too late
    slowing_kernels,       ///< kernels take longer late in the run than early
    uneven_steps,          ///< some steps take much longer than most
    below_roof,            ///< a kernel that is far from the machine's roofline
    kernel,                ///< computation: one kernel decides
    operators,             ///< computation of threads of the host: one operator decides
    unseen_device,         ///< calls of a device whose work was not recorded
    two_chains,            ///< device and host take equally long: nothing alone gains
};
std::string_view name_of(AdviceRule rule);

/// An advice on a step: what would be without the cause.
struct Advice {
    AdviceRule rule = AdviceRule::kernel;
    std::string subject; ///< calls, collective, kernel or ranks that have most of it; empty where there is none
    Ticks on_path = 0;   ///< time of the cause on the critical path; 0 where it has no time of its own (waits)
    Ticks step = 0;      ///< of the step without it: of launches, a kernel and operators with half of it
    double speedup = 1.0;
};
/// Whether the subject is a name of the trace, which may be long; else it is words.
bool subject_is_name(AdviceRule rule);
/// The finding in one sentence and what to do about it in another: "The memory allocator stops the device: ...".
std::string finding_words(Advice const& advice, Ticks depth);
std::string remedy_words(Advice const& advice);

/// Process groups of the ranks' collectives; groups of one size whose ranks are equally far apart are one.
struct CollectiveGroups {
    std::vector<std::string> names;                ///< "groups of 4 ranks, 8 apart"
    std::vector<std::vector<std::int32_t>> of_run; ///< by graph and run, into `names`; -1: not stated
};

/// Signs of the whole run, which the graph of one step does not hold.
struct RunSigns {
    bool has_steps = true; ///< the graph is of a step; else of the whole file
    bool on_host = false;  ///< no rank has a device
    AdviceRule late = AdviceRule::late_ranks;
    std::string late_ranks;       ///< words for those that others wait for: "rank 3, whose kernels take 40 % longer"
    double slowing = 1.0;         ///< mean time of kernels over their mean early in the run
    std::optional<Advice> uneven; ///< steps that take much longer than most
    struct Roof {
        std::string kernel, shape;
        double share = 1.0; ///< of the machine's roofline, below one
    };
    std::vector<Roof> roofs;
    CollectiveGroups groups;
};

/// Work, depth and the critical path of a step, across ranks where there are several.
struct PathAnswer {
    Ticks work = 0;                                    ///< W: sum of the costs of all tasks
    Ticks depth = 0;                                   ///< D: longest chain of costs and delays
    double parallelism = 0.0;                          ///< W / D
    std::array<Ticks, span_kinds.size()> by_kind{};    ///< of the path, by kind
    Ticks delays = 0;                                  ///< of the path, between tasks
    std::array<Ticks, trace_edges.size()> delays_by{}; ///< delays by the reason for the wait
    Ticks measured = 0;            ///< the step as it was, from its begin to the end of what it holds, on all ranks
    std::vector<PathPiece> pieces; ///< in order: durations and delays of all add up to `depth`
    std::vector<PathName> names;   ///< longest first
    std::vector<StepIf> what_if;
    Ticks median_alone = 0;     ///< step of the median rank if it waited for no other; 0 for one rank
    std::vector<Advice> advice; ///< from 1.02x on, largest speedup first; a kernel only where nothing else gains
                                ///< 1.05x, two chains only where nothing gains; what was not recorded first
    std::size_t tasks = 0, edges = 0;
    std::vector<std::string> notes;
};

FieldTable const& field_table_of(Advice const*);
FieldTable const& field_table_of(PathAnswer const*);

/// A link between ranks: run `run` of rank index `rank` belongs to matched collective `matched`.
struct CollectiveLink {
    std::uint32_t rank = 0; ///< index into the graphs
    std::int32_t run = 0;
    std::uint32_t matched = 0;
    Ticks transfer = 0; ///< of the matched collective: last begin to last end
};

/// Joins the graphs of all ranks at their collectives and measures the whole. `clock_offset` by graph: the nanoseconds
/// to subtract from its `begin` for the common clock, the difference of epochs included.
///
/// A collective goes on when the last rank has arrived: each rank's run waits for what led to it on all ranks, and its
/// cost is its time after the last arrival, the transfer alone. Runs that end before the last one has begun
/// (roots of broadcasts) wait for nobody.
///
/// What would be, each measured again on the same graph with other costs:
///     "communication is free", "communication twice as fast"   costs of communication
///     "NAME twice as fast"                                      of the five kernels, and of the three calls or operators,
///                                                              that have most of the path
///     "FAMILY twice as fast"                                    of the three families of several kernels that have most
///                                                              of the path
///     "communication in GROUP is free"                          of the four groups with most of it, where there are two
///     "no calls of the allocator", "copies are free",           where the path holds some
///     "the host waits for no device"
///     "host twice as fast"                                      costs of host, launches, calls, and delays of threads
///     "no launch delays"                                        delays between calls and what they start
///     "no waiting for late ranks"                               each rank alone, the mean of their steps
/// Advice: the same without calls of the allocator, without data loaders, without copies, with a host that waits for no
/// device, and what `signs` tell. "launches" takes half of the host's work without what allocator and data loaders have of
/// it; a rank that is late for a reason of its own becomes as fast as the median one alone.
/// by_kind + delays = depth, exactly; depth = measured where clocks agree.
/// Holds for:  any graphs; O(tasks + edges) but for an ordering of the ranks' tasks by time.
/// Source:     [Blumofe1999]
PathAnswer critical_path(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                         std::vector<Ticks> const& clock_offset, Executor const& run = {}, RunSigns const& signs = {});

/// Joined steps as a graph of tasks: costs in nanoseconds, delays as tasks of kind "delay", a resource for each lane of
/// each rank.
laws::TaskGraph task_graph_of(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                              std::vector<Ticks> const& clock_offset);

} // namespace headroom::trace
