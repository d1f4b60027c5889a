#include "headroom/error.hpp"
#include "headroom/laws/dag.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace headroom {

using namespace headroom::laws;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Dag graph(std::vector<Ticks> costs, std::vector<Edge> const& edges) {
    DagResult result = build_dag(std::move(costs), edges);
    EXPECT_FALSE(result.fault);
    return std::move(result.dag);
}

GraphFault fault_of(std::vector<Ticks> costs, std::vector<Edge> const& edges) {
    DagResult const result = build_dag(std::move(costs), edges);
    EXPECT_TRUE(result.fault);
    EXPECT_EQ(result.dag.size(), 0U);
    return result.fault.value_or(GraphFault{});
}

Dag diamond() { return graph({1, 5, 7, 2}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}); }

TEST(Dag, KeepsBothDirectionsInTheOrderOfTheEdges) {
    Dag const dag = graph({1, 1, 1, 1}, {{2, 3}, {0, 3}, {0, 1}, {1, 3}, {0, 2}});
    EXPECT_EQ(dag.size(), 4U);
    EXPECT_EQ(dag.edge_count(), 5U);
    EXPECT_THAT(dag.predecessors(3), ElementsAre(2, 0, 1));
    EXPECT_THAT(dag.predecessors(0), IsEmpty());
    EXPECT_THAT(dag.successors(0), ElementsAre(3, 1, 2));
    EXPECT_THAT(dag.successors(3), IsEmpty());
}

TEST(Dag, SortedEdgesComeOutAsUnsortedOnes) {
    // By `to`, by `from`, by both and by neither take different ways through the builder.
    std::vector<Ticks> const costs{1, 2, 3, 4};
    for (std::vector<Edge> const& edges : {std::vector<Edge>{{1, 2}, {0, 2}, {0, 3}},
                                           {{0, 3}, {0, 2}, {1, 2}},
                                           {{0, 2}, {1, 2}, {1, 3}},
                                           {{1, 3}, {0, 2}, {1, 2}}}) {
        Dag const dag = graph(costs, edges);
        for (TaskId v = 0; v < 4; ++v) {
            std::vector<TaskId> before, after;
            for (Edge const& edge : edges) {
                if (edge.to == v) { before.push_back(edge.from); }
                if (edge.from == v) { after.push_back(edge.to); }
            }
            EXPECT_THAT(dag.predecessors(v), testing::ElementsAreArray(before));
            EXPECT_THAT(dag.successors(v), testing::ElementsAreArray(after));
        }
    }
}

TEST(Dag, KnowsWhetherNumbersAreAnOrder) {
    EXPECT_TRUE(graph({}, {}).is_ordered());
    EXPECT_TRUE(diamond().is_ordered());
    EXPECT_FALSE(graph({1, 1}, {{1, 0}}).is_ordered());
}

TEST(Dag, AnEdgeTwiceChangesNoAnswer) {
    Dag const dag = graph({3, 4}, {{0, 1}, {0, 1}});
    EXPECT_THAT(dag.predecessors(1), ElementsAre(0, 0));
    EXPECT_EQ(dag_measure(dag, 1).depth, 8);
}

// ---- faults, each with its place --------------------------------------------------------------------------------

TEST(DagFault, NegativeCost) {
    GraphFault const fault = fault_of({1, 0, -1, -2}, {});
    EXPECT_EQ(fault.kind, GraphFault::Kind::negative_cost);
    EXPECT_EQ(fault.task, 2U);
}

TEST(DagFault, Overflow) {
    Ticks const half = Ticks{1} << 61;
    EXPECT_EQ(dag_measure(graph({half, half}, {{0, 1}})).depth, Ticks{1} << 62);
    GraphFault const fault = fault_of({half, half, 0, 1, 5}, {});
    EXPECT_EQ(fault.kind, GraphFault::Kind::overflow);
    EXPECT_EQ(fault.task, 3U); // the one that is too much
    Ticks const most = std::numeric_limits<Ticks>::max();
    EXPECT_EQ(fault_of({1, most, most, most}, {}).task, 1U);
}

TEST(DagFault, UnknownTask) {
    GraphFault const to = fault_of({1, 1}, {{0, 1}, {0, 2}});
    EXPECT_EQ(to.kind, GraphFault::Kind::unknown_task);
    EXPECT_EQ(to.edge, 1U);
    EXPECT_EQ(to.task, 2U);
    GraphFault const from = fault_of({1, 1}, {{7, 9}});
    EXPECT_EQ(from.edge, 0U);
    EXPECT_EQ(from.task, 7U);
    EXPECT_EQ(fault_of({}, {{0, 0}}).kind, GraphFault::Kind::unknown_task);
}

TEST(DagFault, SelfEdge) {
    GraphFault const fault = fault_of({1, 1, 1}, {{0, 1}, {2, 2}, {1, 1}});
    EXPECT_EQ(fault.kind, GraphFault::Kind::self_edge);
    EXPECT_EQ(fault.edge, 1U);
    EXPECT_EQ(fault.task, 2U);
}

TEST(DagFault, CycleIsToldAlongItsEdges) {
    // 0 -> 4 -> 2 -> 5 -> 4: the way into the cycle and the way out of it are not part of it.
    GraphFault const fault = fault_of({1, 1, 1, 1, 1, 1}, {{0, 4}, {4, 2}, {2, 5}, {5, 4}, {5, 1}, {1, 3}});
    EXPECT_EQ(fault.kind, GraphFault::Kind::cycle);
    EXPECT_THAT(fault.cycle, ElementsAre(2, 5, 4));
    EXPECT_EQ(fault.task, 2U);
    EXPECT_EQ(fault.edge, 1U); // 4 -> 2 leads from the last to the first
    EXPECT_THAT(fault_of({1, 1}, {{1, 0}, {0, 1}}).cycle, ElementsAre(0, 1));
}

TEST(DagFault, TooManyEdges) {
    // The edges are not there: their number alone is enough to say no.
    Edge const edge{};
    std::span<Edge const> const far{&edge, std::size_t{1} << 32U};
    DagResult const result = build_dag({1, 1}, far);
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->kind, GraphFault::Kind::too_large);
}

// ---- work, depth, critical path -----------------------------------------------------------------------------------

TEST(Measure, EmptyGraph) {
    DagMeasure const result = dag_measure(Dag{});
    EXPECT_EQ(result.work, 0);
    EXPECT_EQ(result.depth, 0);
    EXPECT_THAT(result.critical_path, IsEmpty());
    EXPECT_THAT(level_profile(graph({}, {})).tasks, IsEmpty());
}

TEST(Measure, OneTask) {
    DagMeasure const result = dag_measure(graph({7}, {}), 100);
    EXPECT_EQ(result.work, 7);
    EXPECT_EQ(result.depth, 7); // no edge, no burden
    EXPECT_THAT(result.critical_path, ElementsAre(0));
}

TEST(Measure, ChainIsAllDepth) {
    Dag const dag = graph({1, 2, 3}, {{2, 0}, {0, 1}});
    EXPECT_EQ(dag_measure(dag).work, 6);
    EXPECT_EQ(dag_measure(dag).depth, 6);
    EXPECT_EQ(dag_measure(dag, 10).depth, 26);
    EXPECT_THAT(dag_measure(dag).critical_path, ElementsAre(2, 0, 1));
}

TEST(Measure, DiamondTakesTheLongerSide) {
    DagMeasure const result = dag_measure(diamond());
    EXPECT_EQ(result.work, 15);
    EXPECT_EQ(result.depth, 10); // 1 + 7 + 2
    EXPECT_THAT(result.critical_path, ElementsAre(0, 2, 3));
}

TEST(Measure, BurdenFavoursFewerEdges) {
    // One edge of 10 against three of 9: without burden 0, 4 ends last; with 1 an edge 0, 1, 2, 3 does.
    Dag const dag = graph({1, 3, 3, 2, 9}, {{0, 1}, {1, 2}, {2, 3}, {0, 4}});
    EXPECT_EQ(dag_measure(dag).depth, 10);
    EXPECT_THAT(dag_measure(dag).critical_path, ElementsAre(0, 4));
    EXPECT_EQ(dag_measure(dag, 1).depth, 12);
    EXPECT_THAT(dag_measure(dag, 1).critical_path, ElementsAre(0, 1, 2, 3));
}

TEST(Measure, TiesGoToTheSmallestNumberFromTheEnd) {
    EXPECT_THAT(dag_measure(graph({1, 4, 4, 1}, {{0, 2}, {0, 1}, {2, 3}, {1, 3}})).critical_path, ElementsAre(0, 1, 3));
    EXPECT_THAT(dag_measure(graph({2, 2, 2}, {})).critical_path, ElementsAre(0));
    // the end is chosen first: 1 before 3, though 0 leads to 3
    EXPECT_THAT(dag_measure(graph({2, 3, 2, 1}, {{0, 3}, {2, 1}, {0, 1}})).critical_path, ElementsAre(0, 1));
}

TEST(Measure, TimesPastThirtyTwoBits) {
    Ticks const large = Ticks{1} << 40;
    DagMeasure const result = dag_measure(graph({large, 1, large}, {{2, 1}, {1, 0}}), 3);
    EXPECT_EQ(result.depth, 2 * large + 7);
    EXPECT_EQ(dag_measure(graph({1, 1}, {{0, 1}}), large).depth, large + 2);
    Ticks const last = std::numeric_limits<std::uint32_t>::max();
    EXPECT_EQ(dag_measure(graph({last - 1, 1}, {{1, 0}})).depth, last);
    EXPECT_EQ(dag_measure(graph({last, 1}, {{1, 0}})).depth, last + 1);
}

TEST(Measure, RefusesABurdenWithoutRoom) {
    EXPECT_THROW(dag_measure(diamond(), -1), ContractError);
    EXPECT_THROW(dag_measure(diamond(), Ticks{1} << 60), ContractError);
    EXPECT_EQ(dag_measure(diamond(), (Ticks{1} << 60) - 1).depth, 10 + 2 * ((Ticks{1} << 60) - 1));
}

TEST(LevelProfile, CountsHopsNotCosts) {
    // 3 could run at level 1, but waits for 2 too.
    LevelProfile const profile = level_profile(graph({10, 1, 2, 3, 100}, {{0, 1}, {1, 2}, {0, 3}, {2, 3}}));
    EXPECT_THAT(profile.tasks, ElementsAre(2, 1, 1, 1));
    EXPECT_THAT(profile.work, ElementsAre(110, 1, 2, 3));
    EXPECT_THAT(level_profile(graph({1, 1, 1}, {{2, 1}, {1, 0}})).tasks, ElementsAre(1, 1, 1));
}

// ---- bounds -------------------------------------------------------------------------------------------------------

TEST(Bounds, OfATreeOfAMillion) {
    // 999,999 additions, 20 deep, on 1,024 workers: 976.56 of work each.
    EXPECT_NEAR(lower_bound(999999, 20, 1024.0), 976.5615, 1e-4);
    EXPECT_NEAR(brent_bound(999999, 20, 1024.0), 996.5615, 1e-4);
    EXPECT_NEAR(graham_bound(999999, 20, 1024.0), 996.5419, 1e-4);
    EXPECT_EQ(lower_bound(999999, 20, 1e6), 20.0);
    EXPECT_EQ(graham_bound(999999, 20, 1.0), 999999.0);
}

TEST(Bounds, CrossoverIsExact) {
    EXPECT_EQ(crossover_workers(999999, 20), 50000); // 20 x 50,000 = 1,000,000 > 999,999
    EXPECT_EQ(crossover_power_of_two(999999, 20), 65536);
    EXPECT_EQ(crossover_workers(1000000, 20), 50001); // equal is not over
    EXPECT_EQ(crossover_workers(7, 7), 2);
    EXPECT_EQ(crossover_power_of_two(7, 7), 2);
    EXPECT_EQ(crossover_workers(0, 0), std::nullopt);
    EXPECT_EQ(crossover_power_of_two(5, 0), std::nullopt);
    EXPECT_EQ(crossover_workers(5, 9), 1); // a burdened depth can pass the work
    EXPECT_EQ(crossover_power_of_two(5, 9), 1);
}

TEST(Bounds, CrossoverAtTheEdgeOfTheRange) {
    Ticks const most = Ticks{1} << 62;
    EXPECT_EQ(crossover_workers(most, 1), most + 1);
    EXPECT_EQ(crossover_power_of_two(most, 1), std::nullopt);
    EXPECT_EQ(crossover_power_of_two(most - 1, 1), most);
    EXPECT_EQ(crossover_workers(most, most), 2);
    EXPECT_EQ(crossover_workers(most - 1, (Ticks{1} << 31) - 1), ((Ticks{1} << 31) + 1) + 1);
}

} // namespace
} // namespace headroom
