#pragma once

#include "headroom/dag.hpp"
#include "headroom/timeline.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What a task of a step is spent on; critical paths and exposed time are told by it.
enum class WorkKind : std::uint8_t {
    gemm,
    attention,
    memory, ///< element-wise work
    launch, ///< the host issues a kernel
    tensor, ///< communication, by whose group it is
    context,
    experts,
    pipeline,
    data,
    optimizer, ///< accumulation and update
    offload,   ///< copies to the host and back, and its update
    count_,
};
inline constexpr std::size_t work_kind_count = static_cast<std::size_t>(WorkKind::count_);
std::string_view name_of(WorkKind kind);
constexpr bool communicates(WorkKind kind) { return kind >= WorkKind::tensor && kind <= WorkKind::data; }

using StreamId = std::uint16_t;
using LinkIndex = std::uint16_t;
inline constexpr LinkIndex no_link = 0xFFFF;

/// A queue of one chip: its tasks run in the order of their numbers, one at a time.
struct Stream {
    std::string name;         ///< "stage 3 compute"
    std::uint16_t chip = 0;   ///< streams of a chip slow each other
    LinkIndex link = no_link; ///< what its tasks share with other streams; tasks under way have equal parts of it
    bool computes = false;    ///< its tasks are slowed while the network is busy on the same chip
    bool network = false;     ///< its tasks slow computation
};

/// Tasks on streams, and what waits for what beside the order of a stream. Columns of equal length.
struct StreamProgram {
    std::vector<Stream> streams;
    double slowdown = 0.0;   ///< share of its rate that a kernel loses while the network is busy on its chip
    std::vector<Ticks> cost; ///< alone
    std::vector<StreamId> stream;
    std::vector<WorkKind> kind;
    std::vector<std::uint32_t> name; ///< index into `names`
    std::vector<std::string> names;
    std::vector<Edge> edges; ///< any order; `from` may be larger than `to`

    [[nodiscard]] std::size_t size() const { return cost.size(); }
    TaskId add(StreamId on, WorkKind what, Ticks ticks, std::uint32_t name_index);
    void wait(TaskId task, TaskId for_task) { edges.push_back({.from = for_task, .to = task}); }
};

/// What one chip did between the first start and the last end of a run.
struct ChipUse {
    Ticks computing = 0;                          ///< at least one stream that computes was busy
    std::array<Ticks, work_kind_count> busy{};    ///< by kind, each kind's own union of intervals
    std::array<Ticks, work_kind_count> exposed{}; ///< of communication: time in which nothing computed; where several
                                                  ///< kinds are under way the first of the list has it
    Ticks idle = 0;                               ///< nothing was under way at all
};

/// How a program ran.
struct StreamRun {
    Ticks makespan = 0;
    std::vector<Ticks> begin, end; ///< of every task
    std::vector<ChipUse> chips;
    std::vector<TaskId> critical_path; ///< from the first to the last task: each began when the one before ended
    std::array<Ticks, work_kind_count>
        critical{}; ///< its time by kind; with `critical_wait` they add up to the makespan
    Ticks critical_wait = 0;
    bool complete = true; ///< whether nobody asked to stop; else the times are of no use
};

/// Runs the streams: a task begins when the one before it on its stream and all that it waits for have ended. A kernel runs
/// at 1 - slowdown of its rate while the network is busy on its chip; tasks under way on one link have equal parts of it.
///
///     without shared links and slowdown     begin = max over predecessors of end,   makespan = depth of the graph
///
/// Times are whole ticks; a remaining cost that is not whole is rounded up when its rate changes. Ties go by number.
/// Holds for:  any program without circles; O((tasks + edges) log streams).
/// Errors:     InputError{usage} where tasks wait for each other in a circle (told by name).
/// Source:     [Graham1969]
StreamRun run_streams(StreamProgram const& program, std::stop_token const& stop = {});

/// The run as intervals: lanes are streams.
Timeline timeline_of(StreamProgram const& program, StreamRun const& run);

} // namespace headroom
