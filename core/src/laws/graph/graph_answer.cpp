#include "headroom/laws/graph_answer.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom::laws {
namespace {

constexpr double tie_slack = 1e-12; ///< relative; a tie in exact numbers must not be lost to rounding
constexpr std::int64_t largest_power = std::int64_t{1} << 62;

std::int64_t whole_at_most(double count) {
    return static_cast<std::int64_t>(std::floor(std::min(count * (1.0 + tie_slack), 9e18)));
}

double ratio(Ticks work, Ticks depth) { return static_cast<double>(work) / static_cast<double>(depth); }

} // namespace

std::optional<std::int64_t> workers_surely_efficient(Ticks work, Ticks depth, double share) {
    if (depth <= 0) { return std::nullopt; }
    return whole_at_most(1.0 + ratio(work, depth) * (1.0 - share) / share);
}

std::optional<std::int64_t> workers_perhaps_efficient(Ticks work, Ticks depth, double share) {
    if (depth <= 0) { return std::nullopt; }
    return whole_at_most(ratio(work, depth) / share);
}

std::vector<std::int64_t> telling_worker_counts(Ticks work, Ticks depth) {
    auto const crossover = crossover_power_of_two(work, depth);
    if (!crossover) { return {1}; }
    std::vector<std::int64_t> counts;
    for (std::int64_t workers = 1; workers <= *crossover; workers *= 2) {
        counts.push_back(workers);
        if (workers == largest_power) { return counts; }
    }
    counts.push_back(2 * *crossover);
    return counts;
}

// ---- parts --------------------------------------------------------------------------------------------------------

std::vector<KindShare> kind_shares(TaskGraph const& graph, DagMeasure const& measured) {
    if (graph.kinds.empty()) { return {}; }
    std::vector<KindShare> shares(graph.kinds.size());
    for (std::size_t kind = 0; kind < shares.size(); ++kind) { shares[kind].kind = graph.kinds[kind]; }
    auto const share_of = [&](std::size_t task) -> KindShare& {
        return shares[graph.kind_of.empty() ? 0 : graph.kind_of[task]];
    };
    auto const costs = graph.dag.costs();
    if (graph.kind_of.empty()) {
        shares.front().tasks = costs.size();
        shares.front().work = measured.work;
    } else {
        for (std::size_t task = 0; task < costs.size(); ++task) {
            share_of(task).tasks += 1;
            share_of(task).work += costs[task];
        }
    }
    for (TaskId const task : measured.critical_path) {
        share_of(task).critical_tasks += 1;
        share_of(task).critical_work += costs[task];
    }
    std::erase_if(shares, [](KindShare const& share) { return share.tasks == 0; });
    return shares;
}

std::vector<LevelBin> level_bins(LevelProfile const& profile, std::size_t most) {
    std::size_t const levels = profile.tasks.size(), width = std::max<std::size_t>(1, (levels + most - 1) / most);
    std::vector<LevelBin> bins;
    for (std::size_t first = 0; first < levels; first += width) {
        LevelBin bin{.first = first, .last = std::min(first + width, levels) - 1};
        for (std::size_t level = bin.first; level <= bin.last; ++level) {
            bin.tasks += profile.tasks[level];
            bin.widest = std::max(bin.widest, profile.tasks[level]);
            bin.work += profile.work[level];
        }
        bins.push_back(bin);
    }
    return bins;
}

// ---- the same graph otherwise -------------------------------------------------------------------------------------

namespace {

std::vector<Edge> edges_of(Dag const& dag) {
    std::vector<Edge> edges;
    edges.reserve(dag.edge_count());
    for (TaskId task = 0; task < dag.size(); ++task) {
        for (TaskId const before : dag.predecessors(task)) { edges.push_back({before, task}); }
    }
    return edges;
}

} // namespace

TaskGraph with_message_cost(TaskGraph graph, Ticks cost, std::string_view where) {
    auto const found = std::find(graph.kinds.begin(), graph.kinds.end(), message_kind);
    auto const kind = static_cast<std::uint16_t>(found - graph.kinds.begin());
    std::vector<Ticks> costs{graph.dag.costs().begin(), graph.dag.costs().end()};
    std::size_t messages = 0;
    for (std::size_t task = 0; found != graph.kinds.end() && task < costs.size(); ++task) {
        if (!graph.kind_of.empty() && graph.kind_of[task] != kind) { continue; }
        costs[task] = cost;
        ++messages;
    }
    if (messages == 0) {
        refuse(where, quoted(graph.name) + " has no messages", "no task of it is of the kind 'message'",
               "leave it out");
    }
    DagResult rebuilt = build_dag(std::move(costs), edges_of(graph.dag));
    if (rebuilt.fault) {
        refuse(where, "too large", std::to_string(messages) + " messages of it add up to more than 2^62 ticks", "");
    }
    graph.dag = std::move(rebuilt.dag);
    return graph;
}

std::optional<Ticks> known_greedy_time(Dag const& dag, DagMeasure const& measured, LevelProfile const& profile,
                                       std::int64_t workers) {
    auto const costs = dag.costs();
    if (workers == 1) { return measured.work; }
    if (static_cast<std::uint64_t>(workers) >= costs.size()) { return measured.depth; }
    std::uint64_t const widest = *std::max_element(profile.tasks.begin(), profile.tasks.end());
    if (static_cast<std::uint64_t>(workers) < widest) { return std::nullopt; }
    bool const alike = std::all_of(costs.begin(), costs.end(), [&](Ticks cost) { return cost == costs.front(); });
    return alike ? std::optional{measured.depth} : std::nullopt;
}

ResourceBounds resource_bounds(Dag const& dag, std::span<Resource const> resources,
                               std::span<std::uint16_t const> resource_of, Ticks depth) {
    ResourceBounds bounds{.lower = static_cast<double>(depth), .upper = static_cast<double>(depth)};
    bounds.work.resize(resources.size());
    bounds.tasks.resize(resources.size());
    for (std::size_t task = 0; task < dag.size(); ++task) {
        bounds.work[resource_of[task]] += dag.costs()[task];
        bounds.tasks[resource_of[task]] += 1;
    }
    for (std::size_t i = 0; i < resources.size(); ++i) {
        double const time = static_cast<double>(bounds.work[i]) / static_cast<double>(resources[i].capacity);
        bounds.lower = std::max(bounds.lower, time);
        bounds.upper += time;
    }
    return bounds;
}

} // namespace headroom::laws
