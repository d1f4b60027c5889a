#pragma once

#include "headroom/timeline.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headroom::laws {

/// A task by its number; the number is also its birth order, by which ties are broken.
using TaskId = std::uint32_t;

/// `to` cannot begin before `from` has ended.
struct Edge {
    TaskId from = 0, to = 0;
    bool operator==(Edge const&) const = default;
};

/// One direction of every edge: the neighbours of task v are tasks[first[v]] up to tasks[first[v + 1]], those of
/// earlier edges before those of later ones.
struct Neighbours {
    std::span<std::uint32_t const> first; ///< one more than there are tasks
    std::span<TaskId const> tasks;        ///< as many as there are edges
    [[nodiscard]] std::span<TaskId const> operator[](TaskId task) const {
        return tasks.subspan(first[task], first[task + 1] - first[task]);
    }
};

/// Tasks with costs and the order between them, compressed: both directions of every edge, 4 bytes each.
class Dag {
public:
    Dag() = default;

    [[nodiscard]] std::size_t size() const { return costs_.size(); }
    [[nodiscard]] std::size_t edge_count() const { return successors_.size(); }
    [[nodiscard]] Ticks cost(TaskId task) const { return costs_[task]; }
    [[nodiscard]] std::span<Ticks const> costs() const { return costs_; }
    [[nodiscard]] Neighbours predecessors() const { return {first_predecessor_, predecessors_}; }
    [[nodiscard]] Neighbours successors() const { return {first_successor_, successors_}; }
    [[nodiscard]] std::span<TaskId const> predecessors(TaskId task) const { return predecessors()[task]; }
    [[nodiscard]] std::span<TaskId const> successors(TaskId task) const { return successors()[task]; }
    /// Whether every edge leads from a smaller number to a larger one: the numbers are a topological order.
    [[nodiscard]] bool is_ordered() const { return ordered_; }

private:
    friend struct DagBuilder;
    std::vector<Ticks> costs_;
    std::vector<std::uint32_t> first_predecessor_{0}, first_successor_{0}; ///< size() + 1 each
    std::vector<TaskId> predecessors_, successors_;
    bool ordered_ = true;
};

/// Why tasks and edges are no graph that can be run.
struct GraphFault {
    enum class Kind {
        unknown_task,  ///< an edge names a task that is not there
        self_edge,     ///< a task waits for itself
        cycle,         ///< tasks wait for each other
        negative_cost, ///< a task of less than nothing
        overflow,      ///< the costs add up to more than 2^62 ticks
        too_large,     ///< more than 2^32 - 2 tasks or edges
    };
    Kind kind = Kind::cycle;
    std::size_t edge = 0;           ///< index of the offending edge (unknown_task, self_edge, and one edge of a cycle)
    TaskId task = 0;                ///< the offending task
    std::vector<TaskId> cycle = {}; ///< the tasks of a cycle along its edges: each waits for the one before it, the
                                    ///< first for the last. It begins at `task`, its smallest; `edge` closes it
};

/// A graph, or why there is none.
struct DagResult {
    Dag dag;
    std::optional<GraphFault> fault;
};

/// Compresses tasks and edges. An edge given twice is kept twice: it changes no answer. Of several faults one is
/// reported: sizes before costs before edges before cycles, the first of its kind.
/// Holds for:  any input; O(tasks + edges). Twice as fast when the edges are sorted by `to`, and where they lead from
///             smaller to larger numbers no cycle has to be looked for.
DagResult build_dag(std::vector<Ticks> costs, std::span<Edge const> edges);

/// Work, depth and one critical path of a graph.
struct DagMeasure {
    Ticks work = 0;                    ///< W, the sum of all costs: the time on one worker
    Ticks depth = 0;                   ///< D, the longest chain of costs: the time on workers without end
    std::vector<TaskId> critical_path; ///< from a task that waits for none to the one that ends last. Where several
                                       ///< tie, the smallest number, chosen from the end to the beginning
};

/// Work and depth, in one pass over the edges.
///
///     W = sum c(v),   D = max over paths of  sum c(v) + burden (edges of the path)
///
/// With a burden it is the burdened depth: what scheduling or communication adds to each edge.
/// Holds for:  any graph, 0 <= burden and burden x tasks < 2^62; O(tasks + edges), at most 16 bytes a task in addition
///             to the graph, the path included.
/// Source:     [Blumofe1999], [He2010]
DagMeasure dag_measure(Dag const& dag, Ticks burden = 0);

/// Tasks, and their work, at each hop from the sources: as many could run side by side.
struct LevelProfile {
    std::vector<std::uint64_t> tasks;
    std::vector<Ticks> work;
};
/// A task's level is the largest number of edges of a path that leads to it.
LevelProfile level_profile(Dag const& dag);

// ---- bounds on K workers ------------------------------------------------------------------------------------------

/// No schedule is shorter: max(W/K, D). Source: [Brent1974]
double lower_bound(Ticks work, Ticks depth, double workers);
/// Brent's bound W/K + D. Source: [Brent1974]
double brent_bound(Ticks work, Ticks depth, double workers);
/// Graham's tighter form, which no greedy schedule exceeds: W/K + (1 - 1/K) D. Source: [Graham1969]
double graham_bound(Ticks work, Ticks depth, double workers);

/// The smallest K with K D > W, exactly: from there on depth is the larger half of Brent's bound. Empty without depth.
/// Source: [Brent1974]
std::optional<std::int64_t> crossover_workers(Ticks work, Ticks depth);
/// The first of K = 1, 2, 4, ... with K D > W. Empty without depth, or past 2^62. Source: [Brent1974]
std::optional<std::int64_t> crossover_power_of_two(Ticks work, Ticks depth);

} // namespace headroom::laws
