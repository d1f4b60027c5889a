#pragma once

#include "headroom/laws/dag.hpp"
#include "headroom/timeline.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::training {

/// Kind of work of a task. Critical paths and exposed time are reported by kind.
enum class WorkKind : std::uint8_t {
    gemm,
    attention,
    memory, ///< element-wise work
    launch, ///< CPU launch of a kernel; on a compute stream: wait for one
    tensor, ///< communication, by dimension, from here to `data`
    context,
    experts,
    pipeline,
    data,
    optimizer, ///< accumulation of gradients, and update
    offload,   ///< copies to host memory and back, and the update on the CPU
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
    std::uint16_t chip = 0;   ///< chip of the stream: its network streams slow its compute streams
    LinkIndex link = no_link; ///< link that its tasks share with other streams; concurrent tasks on a link get equal
                              ///< rates
    bool computes = false;    ///< its tasks, but launch waits, are slowed while a network stream of its chip is busy
    bool network = false;     ///< its tasks slow those of streams that compute (gradients and weights)
};

/// Tasks on streams, and their dependencies in addition to the order on each stream. Columns of equal length.
struct StreamProgram {
    std::vector<Stream> streams;
    double slowdown = 0.0;   ///< share of its rate that a kernel loses while the network is busy on its chip
    std::vector<Ticks> cost; ///< duration at full rate
    std::vector<StreamId> stream;
    std::vector<WorkKind> kind;
    std::vector<std::uint32_t> name; ///< index into `names`
    std::vector<std::string> names;
    std::vector<laws::Edge> edges; ///< any order; `from` may be larger than `to`

    [[nodiscard]] std::size_t size() const { return cost.size(); }
    void reserve(std::size_t tasks);
    laws::TaskId add(StreamId on, WorkKind what, Ticks ticks, std::uint32_t name_index);
    void wait(laws::TaskId task, laws::TaskId for_task) { edges.push_back({.from = for_task, .to = task}); }
};

/// Time budget of one chip over a run. A task computes if its stream does and its kind is not communication. Every
/// moment is counted once:
///
///     computing + sum of exposed + idle = makespan
struct ChipUse {
    Ticks computing = 0;                          ///< at least one task that computes was under way
    std::array<Ticks, work_kind_count> busy{};    ///< by kind: length of the union of the intervals of its tasks
    std::array<Ticks, work_kind_count> exposed{}; ///< by kind: time under way while nothing computed. Where several
                                                  ///< kinds are under way, the first communication kind of the
                                                  ///< enumeration counts, else the first kind: launches and host copies
                                                  ///< count only while no communication is under way
    Ticks idle = 0;                               ///< nothing was under way at all
};

/// Result of running a program.
struct StreamRun {
    Ticks makespan = 0;
    std::vector<Ticks> begin, end; ///< of every task
    std::vector<ChipUse> chips;
    /// From a task that waits for none to the last one: each began when the one before ended; of several the smallest
    /// number.
    std::vector<laws::TaskId> critical_path;
    std::array<Ticks, work_kind_count> critical{}; ///< time of the path by kind; the sum is the makespan
    Ticks critical_stretch = 0;                    ///< time that sharing and slowdown added to the costs of its tasks
    bool complete = true;                          ///< false if a stop was requested: the times are then invalid
};

/// Runs the streams. A task begins when its predecessor on the stream and all tasks it waits for have ended. A kernel
/// runs at 1 - slowdown of its rate while the network is busy on its chip; waits for launches are not slowed.
/// Concurrent tasks on one link get equal shares of its rate.
///
///     without shared links and slowdown     begin = max over predecessors of end,   makespan = depth of the graph
///     with them                             begin and makespan are no smaller
///
/// Times are whole ticks. Rates change between ticks only: all begins and ends of one tick are settled first, and a
/// task of no cost changes no rate. At each change of rate, or of the set of tasks that share a chip or a link, the
/// remaining work of each of these tasks is rounded up to whole ticks. The slowdown is rounded to millionths. More
/// slowdown, or longer tasks, can shorten a run: traffic that comes later may miss the kernels that it would have
/// slowed.
/// Holds for:  any acyclic program.
/// Cost:       O((tasks + edges) log streams) time where the kernels of a chip share few links; in addition to the
///             program and the result, at most 26 bytes a task and 4 an edge.
/// Errors:     InputError{usage} for a slowdown outside 0 to 0.999999, or costs whose sum exceeds 2^61 / the longest
///             stretch. ContractError for tasks that wait for each other in a circle, columns of unequal length and
///             indices of streams, names or tasks that do not exist.
/// Source:     [Graham1969], [Kleinrock1967]
StreamRun run_streams(StreamProgram const& program, std::stop_token const& stop = {});

} // namespace headroom::training
