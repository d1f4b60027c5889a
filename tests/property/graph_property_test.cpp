#include "support/random_graphs.hpp"

#include "headroom/laws/dag.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace headroom {

using namespace headroom::laws;

namespace {

using test::CounterRandom;
using test::RawGraph;

constexpr std::uint64_t graphs = 4000;

Dag build(RawGraph const& graph) {
    DagResult result = build_dag(graph.costs, graph.edges);
    EXPECT_FALSE(result.fault);
    return std::move(result.dag);
}

template <class Check> void for_random_graphs(int most_tasks, Check check) {
    for (std::uint64_t seed = 0; seed < graphs && !testing::Test::HasFailure(); ++seed) {
        RawGraph const graph = test::random_graph(seed, most_tasks);
        SCOPED_TRACE(test::name_of(seed, graph));
        check(graph, CounterRandom{~seed});
    }
}

/// Ends of tasks by relaxing every edge until nothing changes: knows nothing of orders or compressed rows.
std::vector<Ticks> naive_ends(RawGraph const& graph, Ticks burden) {
    std::vector<Ticks> end = graph.costs;
    for (bool changed = true; changed;) {
        changed = false;
        for (Edge const& edge : graph.edges) {
            Ticks const later = end[edge.from] + burden + graph.costs[edge.to];
            if (later > end[edge.to]) {
                end[edge.to] = later;
                changed = true;
            }
        }
    }
    return end;
}

/// The path that is promised where several are as long.
std::vector<TaskId> naive_path(RawGraph const& graph, std::vector<Ticks> const& end, Ticks burden) {
    std::vector<TaskId> path{static_cast<TaskId>(std::ranges::max_element(end) - end.begin())};
    while (true) {
        TaskId const task = path.back();
        TaskId before = task;
        for (Edge const& edge : graph.edges) {
            bool const binds = edge.to == task && end[edge.from] + burden + graph.costs[task] == end[task];
            if (binds && (before == task || edge.from < before)) { before = edge.from; }
        }
        if (before == task) { break; }
        path.push_back(before);
    }
    std::ranges::reverse(path);
    return path;
}

TEST(GraphProperty, RowsHoldTheEdgesInTheirOrder) {
    for_random_graphs(40, [](RawGraph const& graph, CounterRandom) {
        Dag const dag = build(graph);
        ASSERT_EQ(dag.edge_count(), graph.edges.size());
        std::vector<std::vector<TaskId>> before(graph.size()), after(graph.size());
        for (Edge const& edge : graph.edges) {
            before[edge.to].push_back(edge.from);
            after[edge.from].push_back(edge.to);
        }
        for (TaskId v = 0; v < graph.size(); ++v) {
            ASSERT_TRUE(std::ranges::equal(dag.predecessors(v), before[v]));
            ASSERT_TRUE(std::ranges::equal(dag.successors(v), after[v]));
        }
        ASSERT_EQ(dag.is_ordered(), std::ranges::all_of(graph.edges, [](Edge const& e) { return e.from < e.to; }));
    });
}

TEST(GraphProperty, DepthIsTheLongestPath) {
    for_random_graphs(60, [](RawGraph const& graph, CounterRandom random) {
        Dag const dag = build(graph);
        for (Ticks const burden : {Ticks{0}, Ticks{1}, Ticks{1} << random.below(45)}) {
            DagMeasure const result = dag_measure(dag, burden);
            std::vector<Ticks> const end = naive_ends(graph, burden);
            ASSERT_EQ(result.work, std::accumulate(graph.costs.begin(), graph.costs.end(), Ticks{0}));
            ASSERT_EQ(result.depth, std::ranges::max(end));
            ASSERT_EQ(result.critical_path, naive_path(graph, end, burden));
        }
    });
}

TEST(GraphProperty, CriticalPathIsAPathAsLongAsTheDepth) {
    for_random_graphs(200, [](RawGraph const& graph, CounterRandom random) {
        Dag const dag = build(graph);
        Ticks const burden = random.below(3);
        DagMeasure const result = dag_measure(dag, burden);
        auto const& path = result.critical_path;
        ASSERT_TRUE(dag.predecessors(path.front()).empty());
        Ticks length = dag.cost(path.front());
        for (std::size_t i = 1; i < path.size(); ++i) {
            auto const before = dag.predecessors(path[i]);
            ASSERT_NE(std::ranges::find(before, path[i - 1]), before.end());
            length += burden + dag.cost(path[i]);
        }
        ASSERT_EQ(length, result.depth);
    });
}

TEST(GraphProperty, BurdenAddsBetweenNothingAndEveryEdgeOfThePath) {
    for_random_graphs(100, [](RawGraph const& graph, CounterRandom random) {
        Dag const dag = build(graph);
        Ticks const burden = 1 + random.below(1000);
        DagMeasure const plain = dag_measure(dag), burdened = dag_measure(dag, burden);
        auto const edges = [](DagMeasure const& m) { return static_cast<Ticks>(m.critical_path.size() - 1); };
        ASSERT_EQ(burdened.work, plain.work);
        ASSERT_GE(burdened.depth, plain.depth + burden * edges(plain));    // its own path has grown so much
        ASSERT_LE(burdened.depth, plain.depth + burden * edges(burdened)); // without it the new path is no longer
    });
}

TEST(GraphProperty, NumbersDoNotMatter) {
    for_random_graphs(120, [](RawGraph const& graph, CounterRandom random) {
        Dag const dag = build(graph);
        Dag const other = build(test::renumbered(graph, test::random_numbers(graph.size(), random)));
        ASSERT_EQ(dag_measure(dag).work, dag_measure(other).work);
        ASSERT_EQ(dag_measure(dag).depth, dag_measure(other).depth);
        ASSERT_EQ(dag_measure(dag, 7).depth, dag_measure(other, 7).depth);
        ASSERT_EQ(level_profile(dag).tasks, level_profile(other).tasks);
        ASSERT_EQ(level_profile(dag).work, level_profile(other).work);
    });
}

TEST(GraphProperty, LevelsSumToTheGraph) {
    for_random_graphs(80, [](RawGraph const& graph, CounterRandom) {
        Dag const dag = build(graph);
        LevelProfile const profile = level_profile(dag);
        ASSERT_EQ(std::accumulate(profile.tasks.begin(), profile.tasks.end(), std::uint64_t{0}), dag.size());
        ASSERT_EQ(std::accumulate(profile.work.begin(), profile.work.end(), Ticks{0}), dag_measure(dag).work);
        RawGraph ones = graph;
        ones.costs.assign(graph.size(), 1);
        std::vector<Ticks> const hops = naive_ends(ones, 0); // of equal tasks, one more than the edges before
        std::vector<std::uint64_t> tasks(profile.tasks.size());
        std::vector<Ticks> work(profile.tasks.size());
        for (std::size_t v = 0; v < graph.size(); ++v) {
            ++tasks.at(static_cast<std::size_t>(hops[v] - 1));
            work.at(static_cast<std::size_t>(hops[v] - 1)) += graph.costs[v];
        }
        ASSERT_EQ(profile.tasks, tasks);
        ASSERT_EQ(profile.work, work);
    });
}

// ---- cycles --------------------------------------------------------------------------------------------------------

/// Whether a walk from `task` meets a task that is being walked from.
bool finds_cycle(RawGraph const& graph, TaskId task, std::vector<int>& state) {
    constexpr int begun = 1, done = 2;
    state[task] = begun;
    for (Edge const& edge : graph.edges) {
        if (edge.from != task || state[edge.to] == done) { continue; }
        if (state[edge.to] == begun || finds_cycle(graph, edge.to, state)) { return true; }
    }
    state[task] = done;
    return false;
}

bool has_cycle(RawGraph const& graph) {
    std::vector<int> state(graph.size(), 0);
    for (TaskId v = 0; v < graph.size(); ++v) {
        if (state[v] == 0 && finds_cycle(graph, v, state)) { return true; }
    }
    return false;
}

void expect_cycle(RawGraph const& graph, GraphFault const& fault) {
    ASSERT_EQ(fault.kind, GraphFault::Kind::cycle);
    ASSERT_FALSE(fault.cycle.empty());
    ASSERT_EQ(fault.task, std::ranges::min(fault.cycle));
    ASSERT_EQ(fault.task, fault.cycle.front());
    for (std::size_t i = 0; i < fault.cycle.size(); ++i) {
        Edge const edge{fault.cycle[i], fault.cycle[(i + 1) % fault.cycle.size()]};
        ASSERT_NE(std::ranges::find(graph.edges, edge), graph.edges.end());
    }
    ASSERT_LT(fault.edge, graph.edges.size());
    ASSERT_EQ(graph.edges[fault.edge], (Edge{fault.cycle.back(), fault.cycle.front()}));
    std::vector<TaskId> each = fault.cycle;
    std::ranges::sort(each);
    ASSERT_EQ(std::ranges::adjacent_find(each), each.end()); // it goes round once
}

TEST(GraphProperty, RefusesExactlyTheCyclicOnes) {
    int cyclic = 0;
    for_random_graphs(30, [&cyclic](RawGraph graph, CounterRandom random) {
        for (int extra = random.below(3); extra > 0 && graph.size() > 1; --extra) {
            TaskId const from = test::any_task(random, graph.size()), to = test::any_task(random, graph.size());
            if (from != to) { graph.edges.push_back({from, to}); }
        }
        DagResult const result = build_dag(graph.costs, graph.edges);
        ASSERT_EQ(result.fault.has_value(), has_cycle(graph));
        if (result.fault) {
            ++cyclic;
            expect_cycle(graph, *result.fault);
        }
    });
    EXPECT_GT(cyclic, 200); // there were both
    EXPECT_LT(cyclic, 3800);
}

// ---- bounds --------------------------------------------------------------------------------------------------------

TEST(GraphProperty, CrossoverIsTheFirstCountThatIsOver) {
    CounterRandom random{11};
    for (int i = 0; i < 3000; ++i) {
        Ticks const work = random.below(3000), depth = 1 + random.below(100);
        Ticks first = 1, doubled = 1;
        while (first * depth <= work) { ++first; }
        while (doubled * depth <= work) { doubled *= 2; }
        ASSERT_EQ(crossover_workers(work, depth), first) << work << ' ' << depth;
        ASSERT_EQ(crossover_power_of_two(work, depth), doubled) << work << ' ' << depth;
    }
}

TEST(GraphProperty, BoundsAreInOrder) {
    CounterRandom random{12};
    for (int i = 0; i < 3000; ++i) {
        Ticks const depth = random.below(1000), work = depth + random.below(1000000);
        double const workers = 1 + random.below(5000);
        double const low = lower_bound(work, depth, workers), high = graham_bound(work, depth, workers);
        ASSERT_LE(low, high * (1.0 + 1e-12)) << work << ' ' << depth << ' ' << workers;
        ASSERT_LE(high, brent_bound(work, depth, workers)) << work << ' ' << depth << ' ' << workers;
        ASSERT_LE(high, 2.0 * low * (1.0 + 1e-12)); // greedy is at most twice the best
    }
}

} // namespace
} // namespace headroom
