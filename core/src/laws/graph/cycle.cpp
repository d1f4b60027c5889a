#include "cycle.hpp"

#include "walk.hpp"

#include <algorithm>

namespace headroom::laws::graph {
namespace {

/// Looks at nothing but the order.
struct OrderVisitor {
    void fetch_task(TaskId /*task*/) const {}
    void fetch_neighbour(TaskId /*task*/) const {}
    [[nodiscard]] int leave(TaskId /*task*/) const { return 0; }
    void reach(TaskId /*task*/, int /*value*/) const {}
};

/// Every task that was not visited waits for another such: going back from one must come round.
std::vector<TaskId> go_round(Dag const& dag, Walk const& walk) {
    auto const stuck = [&walk](TaskId task) { return walk.waits_for[task] > 0; };
    constexpr std::size_t unseen = 0;
    std::vector<std::size_t> step(dag.size(), unseen); // when it was seen, from 1
    std::vector<TaskId> seen;
    TaskId task = 0;
    while (!stuck(task)) { ++task; }
    for (; step[task] == unseen; task = *std::ranges::find_if(dag.predecessors(task), stuck)) {
        seen.push_back(task);
        step[task] = seen.size();
    }
    std::vector<TaskId> cycle(seen.begin() + static_cast<std::ptrdiff_t>(step[task] - 1), seen.end());
    std::ranges::reverse(cycle); // along the edges
    std::rotate(cycle.begin(), std::ranges::min_element(cycle), cycle.end());
    return cycle;
}

} // namespace

std::optional<GraphFault> cycle_of(Dag const& dag, std::span<Edge const> edges) {
    OrderVisitor visitor;
    Walk const walk = walk_in_order(dag.predecessors(), dag.successors(), visitor);
    if (walk.visited == dag.size()) { return std::nullopt; }
    GraphFault fault{.kind = GraphFault::Kind::cycle, .cycle = go_round(dag, walk)};
    fault.task = fault.cycle.front();
    Edge const closing{fault.cycle.back(), fault.cycle.front()};
    fault.edge = static_cast<std::size_t>(std::ranges::find(edges, closing) - edges.begin());
    return fault;
}

} // namespace headroom::laws::graph
