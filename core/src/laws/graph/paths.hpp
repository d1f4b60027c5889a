#pragma once

#include "walk.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace headroom::laws::graph {

/// From which end paths are measured.
enum class From {
    sources, ///< paths that lead to a task
    sinks,   ///< paths that begin at it
};

/// The longest path up to each task along numbers that are a topological order: a pull over each task's neighbours.
template <From from, class Time, class Cost>
void longest_by_number(Neighbours before, Cost const& cost, Time burden, Time* longest) {
    std::size_t const tasks = before.first.size() - 1, edges = before.tasks.size();
    std::uint32_t const* const first = before.first.data();
    TaskId const* const neighbours = before.tasks.data();
    std::size_t const last = edges == 0 ? 0 : edges - 1;
    for (std::size_t i = 0; i < tasks; ++i) {
        std::size_t const v = from == From::sources ? i : tasks - 1 - i;
        Time begin = 0;
        for (std::size_t e = first[v]; e < first[v + 1]; ++e) {
            std::size_t const soon =
                from == From::sources ? std::min(e + edges_ahead, last) : e - std::min(e, edges_ahead);
            fetch(longest + neighbours[soon]);
            begin = std::max<Time>(begin, longest[neighbours[e]] + burden);
        }
        longest[v] = begin + static_cast<Time>(cost(static_cast<TaskId>(v)));
    }
}

/// Carries the longest path along a walk; `longest[v]` is where v begins until it is left.
template <class Time, class Cost> struct LongestVisitor {
    Cost const& cost;
    Time burden;
    Time* longest;

    void fetch_task(TaskId task) const {
        fetch_to_write(longest + task);
        cost.fetch(task);
    }
    void fetch_neighbour(TaskId task) const { fetch_to_write(longest + task); }
    [[nodiscard]] Time leave(TaskId task) const { return (longest[task] += static_cast<Time>(cost(task))) + burden; }
    void reach(TaskId task, Time begin) const { longest[task] = std::max(longest[task], begin); }
};

/// The cost of a task as the graph has it.
struct OwnCost {
    Ticks const* costs;
    [[nodiscard]] Ticks operator()(TaskId task) const { return costs[task]; }
    void fetch(TaskId task) const { graph::fetch(costs + task); }
};
/// Tasks that cost nothing: only edges count.
struct NoCost {
    [[nodiscard]] Ticks operator()(TaskId /*task*/) const { return 0; }
    void fetch(TaskId /*task*/) const {}
};

/// By task: the largest sum of costs, its own included, and of burdens of edges, over the paths between it and the
/// given end of the graph. `Time` must hold all costs and burdens together; in addition to its own size it takes 8
/// bytes a task while it works where numbers are no order.
template <From from, class Time, class Cost>
std::unique_ptr<Time[]> longest_paths(Dag const& dag, Cost const& cost, Time burden = 0) {
    bool const forward = from == From::sources;
    Neighbours const before = forward ? dag.predecessors() : dag.successors();
    Neighbours const after = forward ? dag.successors() : dag.predecessors();
    auto longest = std::make_unique_for_overwrite<Time[]>(dag.size());
    if (dag.is_ordered()) {
        longest_by_number<from>(before, cost, burden, longest.get());
    } else {
        std::fill_n(longest.get(), dag.size(), Time{0});
        LongestVisitor<Time, Cost> visitor{cost, burden, longest.get()};
        walk_in_order(before, after, visitor);
    }
    return longest;
}

} // namespace headroom::laws::graph
