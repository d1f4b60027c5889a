#include "headroom/error.hpp"
#include "headroom/laws/schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

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

/// Columns of a timeline in the order in which tasks were started.
struct Started {
    explicit Started(ScheduleResult const& result) : timeline{result.timeline} {
        for (std::size_t i = 0; i < timeline.size(); ++i) { lanes.push_back(timeline.lanes[timeline.lane[i]]); }
    }
    Timeline timeline;
    std::vector<std::string> lanes;
};

Started started(Dag const& dag, std::int64_t workers, ListOrder order = ListOrder::arrival) {
    return Started{greedy_schedule(dag, workers, order, true)};
}

TEST(GreedySchedule, EmptyGraph) {
    ScheduleResult const result = greedy_schedule(Dag{}, 4, ListOrder::longest_path, true);
    EXPECT_EQ(result.makespan, 0);
    EXPECT_EQ(result.utilization, 0.0);
    EXPECT_EQ(result.timeline.size(), 0U);
    EXPECT_THAT(result.timeline.lanes, IsEmpty());
}

TEST(GreedySchedule, DiamondByHand) {
    // 0 for 1; then 1 for 5 and 2 for 7 side by side; 3 when both are done.
    Dag const dag = graph({1, 5, 7, 2}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
    EXPECT_EQ(greedy_schedule(dag, 1).makespan, 15);
    ScheduleResult const two = greedy_schedule(dag, 2, ListOrder::arrival, true);
    EXPECT_EQ(two.makespan, 10);
    EXPECT_DOUBLE_EQ(two.utilization, 15.0 / 20.0);
    EXPECT_THAT(two.timeline.name, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(two.timeline.begin, ElementsAre(0, 1, 1, 8));
    EXPECT_THAT(two.timeline.end, ElementsAre(1, 6, 8, 10));
    EXPECT_THAT(Started{two}.lanes, ElementsAre("worker 0", "worker 0", "worker 1", "worker 0"));
    EXPECT_THAT(two.timeline.names, IsEmpty());
    EXPECT_EQ(greedy_schedule(dag, 2).timeline.size(), 0U); // only on request
}

TEST(GreedySchedule, LongestPathStartsTheChainFirst) {
    // Two loose tasks before a chain of three: by arrival the chain waits for one of them.
    Dag const dag = graph({2, 2, 2, 2, 2}, {{2, 3}, {3, 4}});
    EXPECT_EQ(greedy_schedule(dag, 2, ListOrder::arrival).makespan, 8);
    EXPECT_EQ(greedy_schedule(dag, 2, ListOrder::longest_path).makespan, 6);
    EXPECT_THAT(started(dag, 2, ListOrder::longest_path).timeline.name, ElementsAre(2, 0, 3, 1, 4));
}

TEST(GreedySchedule, ReadyTogetherGoesByNumber) {
    // 5 and 2 end together at 3; what waits for them is put in by number, whichever was taken off first.
    Dag const dag = graph({9, 1, 3, 1, 1, 3}, {{2, 4}, {5, 1}, {5, 3}});
    EXPECT_THAT(started(dag, 3).timeline.name, ElementsAre(0, 2, 5, 1, 3, 4));
}

TEST(GreedySchedule, LowestFreeWorkerIsTaken) {
    // Workers 1 and 2 come free at 1, worker 0 at 2: the next task takes 1.
    Dag const dag = graph({2, 1, 1, 5, 5}, {{1, 3}, {0, 4}});
    EXPECT_THAT(started(dag, 3).lanes, ElementsAre("worker 0", "worker 1", "worker 2", "worker 1", "worker 0"));
}

// ---- tasks that cost nothing ---------------------------------------------------------------------------------------

TEST(GreedySchedule, NothingCostsNoTime) {
    Dag const dag = graph({0, 0, 0}, {{0, 1}, {1, 2}});
    ScheduleResult const result = greedy_schedule(dag, 1, ListOrder::arrival, true);
    EXPECT_EQ(result.makespan, 0);
    EXPECT_EQ(result.utilization, 0.0);
    EXPECT_THAT(result.timeline.name, ElementsAre(0, 1, 2));
    EXPECT_THAT(result.timeline.end, ElementsAre(0, 0, 0));
    EXPECT_THAT(result.timeline.lanes, ElementsAre("worker 0"));
}

TEST(GreedySchedule, NothingLetsItsSuccessorsStartAtOnce) {
    // 0 costs nothing and frees its worker for 2 at time 0, one round after 1 was started.
    Dag const dag = graph({0, 4, 4}, {{0, 2}});
    Started const result = started(dag, 2);
    EXPECT_THAT(result.timeline.begin, ElementsAre(0, 0, 0));
    EXPECT_THAT(result.lanes, ElementsAre("worker 0", "worker 1", "worker 0"));
    // while every worker is busy, nothing waits as anything else does
    EXPECT_THAT(started(graph({4, 0}, {}), 1).timeline.begin, ElementsAre(0, 4));
}

// ---- any number of workers -----------------------------------------------------------------------------------------

TEST(GreedySchedule, WorkersBeyondTheTasksAreNotCounted) {
    Dag const dag = graph({1, 2, 3}, {{0, 1}});
    ScheduleResult const result = greedy_schedule(dag, std::int64_t{1} << 62, ListOrder::longest_path, true);
    EXPECT_EQ(result.makespan, 3);
    EXPECT_EQ(result.timeline.lanes.size(), 2U);
    EXPECT_DOUBLE_EQ(result.utilization, 6.0 / 3.0 / 0x1p62);
}

TEST(GreedySchedule, RefusesWhatCannotRun) {
    Dag const dag = graph({1, 1}, {});
    EXPECT_THROW(greedy_schedule(dag, 0), ContractError);
    EXPECT_THROW(greedy_schedule(dag, -3), ContractError);
    std::array const one{Resource{"stream", 1}};
    std::array<std::uint16_t, 2> const wrong{0, 1};
    EXPECT_THROW(greedy_schedule(dag, one, wrong), ContractError);
    EXPECT_THROW(greedy_schedule(dag, one, std::span{wrong}.first(1)), ContractError);
    std::array const none{Resource{"stream", 0}, Resource{"link", 1}};
    EXPECT_THROW(greedy_schedule(dag, none, wrong), ContractError);
    EXPECT_THROW(greedy_schedule(dag, {}, wrong), ContractError);
}

TEST(GreedySchedule, ManyTasksGoByTheirWayToTheEnd) {
    // 300,000 loose tasks of 7 costs, mixed: on one worker the dearer first, and by number among equals.
    std::vector<Ticks> costs(300000);
    for (std::size_t v = 0; v < costs.size(); ++v) { costs[v] = static_cast<Ticks>(v * 5 % 7) << 40U; }
    auto const result = greedy_schedule(graph(costs, {}), 1, ListOrder::longest_path, true);
    auto const& name = result.timeline.name;
    ASSERT_EQ(name.size(), costs.size());
    for (std::size_t i = 1; i < name.size(); ++i) {
        Ticks const before = costs[name[i - 1]], now = costs[name[i]];
        ASSERT_TRUE(before > now || (before == now && name[i - 1] < name[i])) << i;
    }
}

TEST(GreedySchedule, CostsUpToTheLastBit) {
    Ticks const half = Ticks{1} << 61;
    Dag const dag = graph({half - 2, half, 1, 1}, {{2, 3}, {3, 1}});
    for (ListOrder const order : {ListOrder::arrival, ListOrder::longest_path}) {
        EXPECT_EQ(greedy_schedule(dag, 1, order).makespan, Ticks{1} << 62);
        EXPECT_EQ(greedy_schedule(dag, 2, order).makespan, half + 2);
    }
    EXPECT_THAT(started(dag, 1, ListOrder::longest_path).timeline.name, ElementsAre(2, 3, 1, 0));
}

// ---- more of everything can take longer [Graham1969] ---------------------------------------------------------------

/// Nine tasks, the first before the last, the fourth before the four after it.
Dag anomaly(Ticks shorter = 0) {
    std::vector<Ticks> costs{3, 2, 2, 2, 4, 4, 4, 4, 9};
    for (Ticks& cost : costs) { cost -= shorter; }
    return graph(costs, {{0, 8}, {3, 4}, {3, 5}, {3, 6}, {3, 7}});
}

TEST(GreedySchedule, GrahamsAnomaly) {
    EXPECT_EQ(greedy_schedule(anomaly(), 3).makespan, 12);
    EXPECT_EQ(greedy_schedule(anomaly(), 4).makespan, 15);  // with a worker more
    EXPECT_EQ(greedy_schedule(anomaly(1), 3).makespan, 13); // with every task shorter
    // with fewer edges: 13, where a list that puts the last task behind all others comes to Graham's 16
    EXPECT_EQ(greedy_schedule(graph({3, 2, 2, 2, 4, 4, 4, 4, 9}, {{0, 8}, {3, 6}, {3, 7}}), 3).makespan, 13);
    EXPECT_EQ(greedy_schedule(anomaly(), 3, ListOrder::longest_path).makespan, 12);
    EXPECT_EQ(greedy_schedule(anomaly(), 4, ListOrder::longest_path).makespan, 12); // none with this list
}

// ---- resources -----------------------------------------------------------------------------------------------------

TEST(TypedSchedule, StreamsAndLinksDoNotWaitForEachOther) {
    // A step in three: each computes for 3, then sends for 2 while the next computes.
    Dag const dag = graph({3, 2, 3, 2, 3, 2}, {{0, 1}, {0, 2}, {2, 3}, {2, 4}, {4, 5}});
    std::array const resources{Resource{"stream", 1}, Resource{"link", 1}};
    std::array<std::uint16_t, 6> const of{0, 1, 0, 1, 0, 1};
    ScheduleResult const result = greedy_schedule(dag, resources, of, ListOrder::arrival, true);
    EXPECT_EQ(result.makespan, 11); // 3 + 3 + 3 + 2: only the last is exposed
    EXPECT_DOUBLE_EQ(result.utilization, 15.0 / 22.0);
    EXPECT_THAT(Started{result}.lanes, ElementsAre("stream", "stream", "link", "stream", "link", "link"));
    EXPECT_THAT(result.timeline.begin, ElementsAre(0, 3, 3, 6, 6, 9));
}

TEST(TypedSchedule, CapacityIsHowManyAtOnce) {
    Dag const dag = graph({2, 2, 2, 2, 5}, {});
    std::array const resources{Resource{"idle", 3}, Resource{"core", 2}, Resource{"disk", 1}};
    std::array<std::uint16_t, 5> const of{1, 1, 1, 1, 2};
    ScheduleResult const result = greedy_schedule(dag, resources, of, ListOrder::longest_path, true);
    EXPECT_EQ(result.makespan, 5);
    EXPECT_THAT(result.timeline.lanes, ElementsAre("core 0", "core 1", "disk")); // only those that ran something
    EXPECT_THAT(result.timeline.name, ElementsAre(0, 1, 4, 2, 3));
    EXPECT_THAT(result.timeline.lane, ElementsAre(0, 1, 2, 0, 1));
}

} // namespace
} // namespace headroom
