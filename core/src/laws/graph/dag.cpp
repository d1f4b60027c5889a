#include "headroom/laws/dag.hpp"

#include "walk.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace headroom::laws {

using namespace graph;

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

/// One cycle of the graph, if it has any, and the edge among `edges` that closes it.
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

constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max() - 1;
constexpr std::uint64_t most_ticks = std::uint64_t{1} << 62;

std::optional<GraphFault> check_costs(std::span<Ticks const> costs) {
    std::uint64_t sum = 0; // below 2^62 before each addition of less than 2^63
    for (std::size_t v = 0; v < costs.size(); ++v) {
        auto const task = static_cast<TaskId>(v);
        if (costs[v] < 0) { return GraphFault{.kind = GraphFault::Kind::negative_cost, .task = task}; }
        sum += static_cast<std::uint64_t>(costs[v]);
        if (sum > most_ticks) { return GraphFault{.kind = GraphFault::Kind::overflow, .task = task}; }
    }
    return std::nullopt;
}

/// Fault of a single edge: an unknown task at either end, or an edge from a task to itself.
std::optional<GraphFault> check_edge(Edge const& edge, std::size_t index, std::size_t tasks) {
    using enum GraphFault::Kind;
    if (edge.from >= tasks) { return GraphFault{.kind = unknown_task, .edge = index, .task = edge.from}; }
    if (edge.to >= tasks) { return GraphFault{.kind = unknown_task, .edge = index, .task = edge.to}; }
    if (edge.from == edge.to) { return GraphFault{.kind = self_edge, .edge = index, .task = edge.from}; }
    return std::nullopt;
}

/// Properties of the edges before they are sorted.
struct EdgeOrder {
    bool by_number = true;             ///< each leads to a larger number
    bool by_from = true, by_to = true; ///< they are sorted by it
    std::optional<GraphFault> fault;
};

EdgeOrder inspect(std::span<Edge const> edges, std::size_t tasks) {
    EdgeOrder order;
    Edge previous{};
    bool sound = true;
    for (Edge const& edge : edges) {
        sound &= edge.from < tasks && edge.to < tasks && edge.from != edge.to;
        order.by_number &= edge.from < edge.to;
        order.by_from &= previous.from <= edge.from;
        order.by_to &= previous.to <= edge.to;
        previous = edge;
    }
    for (std::size_t e = 0; !sound && !order.fault; ++e) { order.fault = check_edge(edges[e], e, tasks); }
    return order;
}

/// One direction: the edges sorted by `key`, stable, with only `value` kept of each.
class Rows {
public:
    Rows(std::span<Edge const> edges, TaskId Edge::*key, TaskId Edge::*value)
        : edges_{edges}, key_{key}, value_{value} {}

    void sort(std::size_t tasks, bool is_sorted, std::vector<std::uint32_t>& first, std::vector<TaskId>& rows) const {
        rows.resize(edges_.size());
        first.assign(tasks + 2, 0); // counts are kept two places late, so that `scatter` leaves them where they belong
        count(first.data() + 2);
        for (std::size_t v = 2; v < first.size(); ++v) { first[v] += first[v - 1]; }
        if (is_sorted) {
            std::transform(edges_.begin(), edges_.end(), rows.begin(), [this](Edge const& e) { return e.*value_; });
            first.erase(first.begin());
        } else {
            scatter(first.data() + 1, rows.data());
            first.pop_back();
        }
    }

private:
    static constexpr std::size_t ahead = 32;

    void count(std::uint32_t* counts) const {
        for (std::size_t e = 0; e < edges_.size(); ++e) {
            if (e + ahead < edges_.size()) { fetch_to_write(counts + edges_[e + ahead].*key_); }
            ++counts[edges_[e].*key_];
        }
    }

    void scatter(std::uint32_t* next, TaskId* rows) const {
        for (std::size_t e = 0; e < edges_.size(); ++e) {
            if (e + 2 * ahead < edges_.size()) {
                fetch_to_write(next + edges_[e + 2 * ahead].*key_);
                fetch_to_write(rows + next[edges_[e + ahead].*key_]);
            }
            rows[next[edges_[e].*key_]++] = edges_[e].*value_;
        }
    }

    std::span<Edge const> edges_;
    TaskId Edge::*key_;
    TaskId Edge::*value_;
};

} // namespace

struct DagBuilder {
    static Dag compress(std::vector<Ticks> costs, std::span<Edge const> edges, EdgeOrder const& order) {
        Dag dag;
        dag.costs_ = std::move(costs);
        dag.ordered_ = order.by_number;
        Rows{edges, &Edge::to, &Edge::from}.sort(dag.size(), order.by_to, dag.first_predecessor_, dag.predecessors_);
        Rows{edges, &Edge::from, &Edge::to}.sort(dag.size(), order.by_from, dag.first_successor_, dag.successors_);
        return dag;
    }
};

DagResult build_dag(std::vector<Ticks> costs, std::span<Edge const> edges) {
    if (costs.size() > most || edges.size() > most) {
        return {.dag = {}, .fault = GraphFault{.kind = GraphFault::Kind::too_large}};
    }
    if (auto fault = check_costs(costs)) { return {.dag = {}, .fault = std::move(fault)}; }
    EdgeOrder order = inspect(edges, costs.size());
    if (order.fault) { return {.dag = {}, .fault = std::move(order.fault)}; }
    Dag dag = DagBuilder::compress(std::move(costs), edges, order);
    if (!dag.is_ordered()) {
        if (auto fault = cycle_of(dag, edges)) { return {.dag = {}, .fault = std::move(fault)}; }
    }
    return {.dag = std::move(dag), .fault = std::nullopt};
}

} // namespace headroom::laws
