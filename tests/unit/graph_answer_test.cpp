#include "headroom/error.hpp"
#include "headroom/laws/graph_answer.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace headroom {

using namespace headroom::laws;

namespace {

TaskGraph graph(std::string const& request) { return build_graph(request, "here"); }

// W = 1000, D = 10: 0.9 K is sure while K - 1 <= 1000/90 = 11.1, and impossible past 1000/9 = 111.1.
TEST(GraphAnswer, EfficientWorkersByHand) {
    EXPECT_EQ(workers_surely_efficient(1000, 10, 0.9), 12);
    EXPECT_EQ(workers_perhaps_efficient(1000, 10, 0.9), 111);
    EXPECT_EQ(workers_surely_efficient(900, 10, 0.9), 11) << "K - 1 = 10 exactly: a tie counts";
    EXPECT_EQ(workers_perhaps_efficient(900, 10, 0.9), 100) << "K = 100 exactly: a tie counts";
    EXPECT_EQ(workers_surely_efficient(10, 10, 0.9), 1) << "a chain";
    EXPECT_EQ(workers_perhaps_efficient(10, 10, 0.9), 1);
    EXPECT_FALSE(workers_surely_efficient(0, 0, 0.9));
    EXPECT_FALSE(workers_perhaps_efficient(5, 0, 0.9));
    EXPECT_EQ(workers_perhaps_efficient(Ticks{1} << 62, 1, 0.5), 9'000'000'000'000'000'000) << "what a count holds";
}

// The limits against the bounds that they come from, one worker further each time.
TEST(GraphAnswer, OneMoreWorkerThanSureIsNotSure) {
    for (Ticks depth = 1; depth < 40; ++depth) {
        for (Ticks work = depth; work < 40 * depth; work += 1 + depth / 3) {
            auto const sure = *workers_surely_efficient(work, depth, 0.9);
            auto const perhaps = *workers_perhaps_efficient(work, depth, 0.9);
            auto const k = [](std::int64_t workers) { return static_cast<double>(workers); };
            auto const w = static_cast<double>(work);
            EXPECT_GE(w * (1 + 1e-9), 0.9 * k(sure) * graham_bound(work, depth, k(sure)));
            EXPECT_LT(w * (1 - 1e-9), 0.9 * k(sure + 1) * graham_bound(work, depth, k(sure + 1)));
            EXPECT_GE(w * (1 + 1e-9), 0.9 * k(perhaps) * lower_bound(work, depth, k(perhaps)));
            EXPECT_LT(w * (1 - 1e-9), 0.9 * k(perhaps + 1) * lower_bound(work, depth, k(perhaps + 1)));
        }
    }
}

TEST(GraphAnswer, CountsGoOnePastTheCrossover) {
    // 15 operations, 4 deep: K = 4 is the first with 4 > 15/K
    EXPECT_EQ(telling_worker_counts(15, 4), (std::vector<std::int64_t>{1, 2, 4, 8}));
    EXPECT_EQ(telling_worker_counts(7, 7), (std::vector<std::int64_t>{1, 2, 4}));
    EXPECT_EQ(telling_worker_counts(0, 0), (std::vector<std::int64_t>{1}));
    EXPECT_EQ(telling_worker_counts(999999, 20).back(), 131072);
    std::vector<std::int64_t> const most = telling_worker_counts(Ticks{1} << 62, 2);
    EXPECT_EQ(most.back(), std::int64_t{1} << 62) << "a power more would be no count";
}

TEST(GraphAnswer, KindsAddUpToWorkAndDepth) {
    for (char const* request :
         {"cholesky:9", "dot:100", "newton:5:7", "ring-all-reduce:6", "sum-tree:50", "sum-tree:1"}) {
        TaskGraph const built = graph(request);
        DagMeasure const measured = dag_measure(built.dag);
        Ticks work = 0, depth = 0;
        std::uint64_t tasks = 0, on_path = 0;
        for (KindShare const& share : kind_shares(built, measured)) {
            work += share.work;
            depth += share.critical_work;
            tasks += share.tasks;
            on_path += share.critical_tasks;
        }
        EXPECT_EQ(work, measured.work) << request;
        EXPECT_EQ(depth, measured.depth) << request;
        EXPECT_EQ(tasks, built.dag.size()) << request;
        EXPECT_EQ(on_path, measured.critical_path.size()) << request;
    }
    TaskGraph nameless = graph("sum-tree:9");
    nameless.kinds.clear();
    EXPECT_TRUE(kind_shares(nameless, dag_measure(nameless.dag)).empty());
}

// Four tiles a side: 4 POTRF of 1, 6 TRSM and 6 SYRK of 3, 4 GEMM of 6 units; TRSM and GEMM make most of the path.
TEST(GraphAnswer, KindsOfASmallCholeskyByHand) {
    TaskGraph const built = graph("cholesky:4");
    auto const shares = kind_shares(built, dag_measure(built.dag));
    ASSERT_EQ(shares.size(), 4U);
    EXPECT_EQ(shares[0].work, 4);
    EXPECT_EQ(shares[1].work, 18);
    EXPECT_EQ(shares[2].work, 18);
    EXPECT_EQ(shares[3].work, 24);
    EXPECT_EQ(shares[0].critical_work + shares[1].critical_work + shares[2].critical_work + shares[3].critical_work,
              26);
    EXPECT_EQ(shares[3].critical_work, 12) << "GEMM, GEMM between three TRSM";
}

TEST(GraphAnswer, BinsAddUpToTheProfile) {
    LevelProfile const profile{.tasks = {5, 3, 8, 1, 1, 2, 9}, .work = {10, 3, 8, 1, 7, 2, 9}};
    for (std::size_t const most : {1U, 2U, 3U, 6U, 7U, 100U}) {
        std::vector<LevelBin> const bins = level_bins(profile, most);
        EXPECT_LE(bins.size(), most);
        std::uint64_t tasks = 0, widest = 0;
        Ticks work = 0;
        std::size_t next = 0;
        for (LevelBin const& bin : bins) {
            EXPECT_EQ(bin.first, next);
            next = bin.last + 1;
            tasks += bin.tasks;
            work += bin.work;
            widest = std::max(widest, bin.widest);
        }
        EXPECT_EQ(next, 7U);
        EXPECT_EQ(tasks, 29U);
        EXPECT_EQ(work, 40);
        EXPECT_EQ(widest, 9U);
    }
    EXPECT_TRUE(level_bins({}, 10).empty());
}

// Eight ranks: 7 combines and, at 5 a message, 14 messages; up three levels and down three.
TEST(GraphAnswer, MessagesCostWhatTheyAreGiven) {
    TaskGraph const free = graph("tree-all-reduce:8"),
                    costly = with_message_cost(graph("tree-all-reduce:8"), 5, "--message");
    EXPECT_EQ(dag_measure(free.dag).work, 7);
    EXPECT_EQ(dag_measure(costly.dag).work, 7 + 14 * 5);
    EXPECT_EQ(dag_measure(free.dag).depth, 3);
    EXPECT_EQ(dag_measure(costly.dag).depth, 3 + 6 * 5);
    EXPECT_EQ(costly.dag.edge_count(), free.dag.edge_count());
    EXPECT_TRUE(costly.dag.is_ordered());
    for (TaskId task = 0; task < free.dag.size(); ++task) {
        EXPECT_TRUE(std::ranges::equal(free.dag.predecessors(task), costly.dag.predecessors(task)));
    }
}

TEST(GraphAnswer, MessagesThatCannotCostAreRefused) {
    EXPECT_THROW(with_message_cost(graph("sum-tree:8"), 1, "--message"), InputError);
    EXPECT_THROW(with_message_cost(graph("all-to-all:100"), Ticks{1} << 60, "--message"), InputError);
    EXPECT_EQ(dag_measure(with_message_cost(graph("all-to-all:100"), 3, "--message").dag).work, 3 * 9900)
        << "one kind, not written by task";
}

// Times known without a schedule equal those of the schedule.
TEST(GraphAnswer, KnownTimesAreWhatSchedulesTake) {
    for (char const* request : {"sum-tree:100", "cholesky:6", "merge-sort:33", "tree-all-reduce:9", "stencil:7:5",
                                "sum-chain:5", "all-to-all:4"}) {
        TaskGraph const built = graph(request);
        DagMeasure const measured = dag_measure(built.dag);
        LevelProfile const profile = level_profile(built.dag);
        for (std::int64_t workers = 1; workers < 120; ++workers) {
            auto const known = known_greedy_time(built.dag, measured, profile, workers);
            if (known) { EXPECT_EQ(*known, greedy_schedule(built.dag, workers).makespan) << request << ' ' << workers; }
        }
        EXPECT_TRUE(known_greedy_time(built.dag, measured, profile, 1)) << request;
    }
    TaskGraph const tree = graph("sum-tree:100");
    LevelProfile const profile = level_profile(tree.dag);
    EXPECT_FALSE(known_greedy_time(tree.dag, dag_measure(tree.dag), profile, 49));
    EXPECT_EQ(known_greedy_time(tree.dag, dag_measure(tree.dag), profile, 50), 7) << "no level has more than 50";
    TaskGraph const empty = graph("sum-tree:1");
    EXPECT_EQ(known_greedy_time(empty.dag, dag_measure(empty.dag), level_profile(empty.dag), 4), 0);
}

// Four ranks: 24 messages of 5 over four ports and 12 combines on four ranks, a path of 3 combines and 6 messages.
TEST(GraphAnswer, BoundsOnResourcesHoldTheSchedule) {
    TaskGraph const ring = with_message_cost(graph("ring-all-reduce:4"), 5, "--message");
    Ticks const depth = dag_measure(ring.dag).depth;
    EXPECT_EQ(depth, 3 + 6 * 5);
    ResourceBounds const bounds = resource_bounds(ring.dag, ring.resources, ring.resource_of, depth);
    EXPECT_EQ(std::accumulate(bounds.work.begin(), bounds.work.end(), Ticks{0}), 24 * 5 + 12);
    EXPECT_EQ(bounds.work[4], 6 * 5) << "a port sends three chunks twice";
    EXPECT_DOUBLE_EQ(bounds.lower, 33.0);
    EXPECT_DOUBLE_EQ(bounds.upper, 33.0 + 4 * 30.0 + 4 * 3.0);
    Ticks const time = greedy_schedule(ring.dag, ring.resources, ring.resource_of).makespan;
    EXPECT_LE(bounds.lower, static_cast<double>(time));
    EXPECT_GE(bounds.upper, static_cast<double>(time));
}

TEST(GraphAnswer, OneWorkerFewerThanTasksTakesASchedule) {
    DagResult const three = build_dag({1, 2, 3}, {});
    EXPECT_EQ(known_greedy_time(three.dag, dag_measure(three.dag), level_profile(three.dag), 2), std::nullopt);
    EXPECT_EQ(known_greedy_time(three.dag, dag_measure(three.dag), level_profile(three.dag), 3), 3);
}

// 16 leaves: 15 additions, 4 deep. Two workers need 8 steps: 4 + 2 + 1 + 1.
TEST(GraphAnswer, OfASmallTreeByHand) {
    GraphAnswer const answer =
        answer_of({.graph = graph("sum-tree:16"), .source = "sum-tree:16", .workers = {1, 2, 64}});
    EXPECT_EQ(answer.measured.work, 15);
    EXPECT_EQ(answer.parallelism(), 15.0 / 4.0);
    ASSERT_EQ(answer.schedules.size(), 3U);
    EXPECT_EQ(answer.schedules[0].greedy, 15);
    EXPECT_EQ(answer.schedules[1].greedy, 8);
    EXPECT_EQ(answer.schedules[2].greedy, 4) << "no more than the depth";
    EXPECT_EQ(answer.utilization(answer.schedules[1]), 15.0 / 16.0);
    EXPECT_EQ(answer.speedup(answer.schedules[2].greedy), 15.0 / 4.0);
    EXPECT_EQ(answer.efficient_row(), 1U) << "15/16 is 90 % or more, 15/4 of 64 is not";
    EXPECT_FALSE(answer.skipped);
    EXPECT_FALSE(answer.placement);
    EXPECT_FALSE(answer.timeline);
}

TEST(GraphAnswer, OnItsResources) {
    GraphQuestion question{.graph = graph("dot:4"), .source = "dot:4"};
    for (std::string const& kind : question.graph.kinds) { question.resources.push_back({kind, 1}); }
    question.resource_of = question.graph.kind_of;
    question.wants_timeline = true;
    GraphAnswer const answer = answer_of(question);
    // 4 products one after another, of 3 additions the last two wait for the last product and for each other
    ASSERT_TRUE(answer.placement && answer.placement->greedy);
    EXPECT_EQ(answer.measured.work, 7);
    EXPECT_EQ(*answer.placement->greedy, 6);
    EXPECT_EQ(answer.busy_share(0), 4.0 / 6.0);
    EXPECT_TRUE(answer.timeline);
    EXPECT_FALSE(answer.timeline_workers) << "on resources";
}

} // namespace
} // namespace headroom
