#pragma once

// Graphs of many shapes, each from a seed: what the graph core is tried on.

#include "support/random.hpp"

#include "headroom/laws/dag.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headroom::test {

/// Tasks and edges before they are compressed.
struct RawGraph {
    std::string shape;
    std::vector<Ticks> costs;
    std::vector<laws::Edge> edges;

    [[nodiscard]] std::size_t size() const { return costs.size(); }
};

inline laws::TaskId any_task(CounterRandom& random, std::size_t below) {
    return static_cast<laws::TaskId>(random.below(static_cast<int>(below)));
}

/// Each pair of tasks with the same probability.
inline void add_pairs(RawGraph& graph, CounterRandom& random, double probability) {
    for (laws::TaskId to = 1; to < graph.size(); ++to) {
        for (laws::TaskId from = 0; from < to; ++from) {
            if (random.uniform() < probability) { graph.edges.push_back({from, to}); }
        }
    }
}

/// Layers of some tasks, each of which waits for some of the layer before.
inline void add_layers(RawGraph& graph, CounterRandom& random) {
    std::size_t const width = 1 + any_task(random, 9);
    for (std::size_t to = width; to < graph.size(); ++to) {
        std::size_t const layer = to / width * width;
        for (std::size_t from = layer - width; from < layer; ++from) {
            if (random.below(3) == 0) {
                graph.edges.push_back({static_cast<laws::TaskId>(from), static_cast<laws::TaskId>(to)});
            }
        }
    }
}

/// Grown from one edge by putting tasks into edges and parallel to them.
inline void add_series_parallel(RawGraph& graph, CounterRandom& random) {
    if (graph.size() < 2) { return; }
    graph.edges.push_back({0, 1});
    for (laws::TaskId task = 2; task < graph.size(); ++task) {
        std::size_t const at = any_task(random, graph.edges.size());
        laws::Edge const split = graph.edges[at];
        if (random.below(2) == 0) {
            graph.edges[at] = {split.from, task};
        } else {
            graph.edges.push_back({split.from, task});
        }
        graph.edges.push_back({task, split.to});
    }
}

/// Every task waits for a random earlier one, or is waited for by one.
inline void add_tree(RawGraph& graph, CounterRandom& random, bool towards_root) {
    for (laws::TaskId task = 1; task < graph.size(); ++task) {
        laws::TaskId const parent = any_task(random, task);
        graph.edges.push_back(towards_root ? laws::Edge{task, parent} : laws::Edge{parent, task});
    }
}

/// A grid of which each task waits for the one above and the one to the left.
inline void add_grid(RawGraph& graph, CounterRandom& random) {
    laws::TaskId const width = 1 + any_task(random, 8);
    for (laws::TaskId task = 1; task < graph.size(); ++task) {
        if (task % width != 0) { graph.edges.push_back({task - 1, task}); }
        if (task >= width) { graph.edges.push_back({task - width, task}); }
    }
}

inline void add_chain(RawGraph& graph) {
    for (laws::TaskId task = 1; task < graph.size(); ++task) { graph.edges.push_back({task - 1, task}); }
}

inline constexpr std::array shapes{"loose", "chain", "sparse",  "dense",    "layers",
                                   "grid",  "tree",  "in-tree", "branches", "series-parallel"};

inline void add_edges(RawGraph& graph, CounterRandom& random) {
    double const tasks = static_cast<double>(graph.size());
    if (graph.shape == "chain") { add_chain(graph); }
    if (graph.shape == "sparse") { add_pairs(graph, random, 2.0 / tasks); }
    if (graph.shape == "dense") { add_pairs(graph, random, 0.5); }
    if (graph.shape == "layers") { add_layers(graph, random); }
    if (graph.shape == "grid") { add_grid(graph, random); }
    if (graph.shape == "tree") { add_tree(graph, random, false); }
    if (graph.shape == "in-tree") { add_tree(graph, random, true); }
    if (graph.shape == "branches") { add_pairs(graph, random, 0.5 / tasks); }
    if (graph.shape == "series-parallel") { add_series_parallel(graph, random); }
}

/// All equal, some zero, small, or far apart: as many zeros and ties as long tails. Some pass 32 bits.
inline void draw_costs(RawGraph& graph, CounterRandom& random) {
    int const kind = random.below(5);
    for (Ticks& cost : graph.costs) {
        switch (kind) {
        case 0: cost = 1; break;
        case 1: cost = random.below(3) == 0 ? random.below(5) : 0; break;
        case 2: cost = 1 + random.below(20); break;
        case 3: cost = Ticks{1} << random.below(40); break;
        default: cost = 1 + static_cast<Ticks>(1e9 * random.exponential()); break;
        }
    }
}

/// Task i is called number[i].
inline RawGraph renumbered(RawGraph const& graph, std::vector<laws::TaskId> const& number) {
    RawGraph result{.shape = graph.shape + " renumbered", .costs = graph.costs, .edges = graph.edges};
    for (std::size_t v = 0; v < graph.size(); ++v) { result.costs[number[v]] = graph.costs[v]; }
    for (laws::Edge& edge : result.edges) { edge = {number[edge.from], number[edge.to]}; }
    return result;
}

template <class Value> void shuffle(std::vector<Value>& values, CounterRandom& random) {
    for (std::size_t i = values.size(); i-- > 1;) { std::swap(values[i], values[any_task(random, i + 1)]); }
}

inline std::vector<laws::TaskId> random_numbers(std::size_t tasks, CounterRandom& random) {
    std::vector<laws::TaskId> number(tasks);
    for (std::size_t v = 0; v < tasks; ++v) { number[v] = static_cast<laws::TaskId>(v); }
    shuffle(number, random);
    return number;
}

/// The graph of one seed: shapes take turns. Some are numbered at random, some have edges twice or in any order.
inline RawGraph random_graph(std::uint64_t seed, int most_tasks) {
    CounterRandom random{seed};
    RawGraph graph{.shape = shapes[seed % shapes.size()], .costs = {}, .edges = {}};
    graph.costs.resize(static_cast<std::size_t>(1 + random.below(most_tasks)));
    draw_costs(graph, random);
    add_edges(graph, random);
    if (!graph.edges.empty() && random.below(4) == 0) {
        graph.edges.push_back(graph.edges[any_task(random, graph.edges.size())]);
    }
    if (random.below(2) == 0) { shuffle(graph.edges, random); }
    if (random.below(2) == 0) { graph = renumbered(graph, random_numbers(graph.size(), random)); }
    return graph;
}

/// Name of a graph in a failure message.
inline std::string name_of(std::uint64_t seed, RawGraph const& graph) {
    return "seed " + std::to_string(seed) + ": " + graph.shape + ", " + std::to_string(graph.size()) + " tasks, " +
           std::to_string(graph.edges.size()) + " edges";
}

} // namespace headroom::test
