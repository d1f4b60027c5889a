// Steps of many ranks as one graph: made in stretches of time, on any threads.

#include "support/random.hpp"

#include "headroom/trace/trace_path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <thread>

namespace headroom {

using namespace headroom::trace;

namespace {

constexpr std::size_t ranks = 3, rounds = 16'000; // of more things than a stretch has
constexpr Ticks transfer = 700;

/// Ranks that compute, each as long as it likes, and then exchange: all at once, when the last has arrived.
struct Rounds {
    std::vector<StepGraph> graphs{ranks};
    std::vector<CollectiveLink> links;
    Ticks end = 0;                        ///< of the last round
    std::array<Ticks, ranks> alone{};     ///< each rank's time without the others
    std::array<Ticks, ranks> computing{}; ///< each rank's
    Ticks slowest = 0;                    ///< the longest computing of each round, added up

    explicit Rounds(std::uint64_t seed) {
        for (std::size_t r = 0; r < ranks; ++r) {
            auto& graph = graphs[r];
            graph.rank = static_cast<std::int64_t>(r);
            graph.names = {"begin", "gemm", "all-reduce"};
            graph.lanes = {"thread 0", "stream 7"};
            add(graph, SpanKind::host, 0, 0, 0, -1);
        }
        test::CounterRandom random{seed};
        for (std::size_t round = 0; round < rounds; ++round) { add_round(random, round); }
        for (auto& graph : graphs) { graph.step = {0, 0, end}; }
    }

    static void add(StepGraph& graph, SpanKind kind, std::uint32_t name, Ticks begin, Ticks cost, std::int32_t run) {
        auto const number = static_cast<std::uint32_t>(graph.cost.size());
        graph.begin.push_back(begin);
        graph.cost.push_back(cost);
        graph.kind.push_back(kind);
        graph.name.push_back(name);
        graph.lane.push_back(name == 0 ? 0 : 1);
        graph.interval.push_back(static_cast<std::uint32_t>(graph.interval.size()));
        graph.collective.push_back(run);
        if (number == 0) { return; }
        graph.edges.push_back({number - 1, number});
        graph.edge_kind.push_back(TraceEdge::stream);
        graph.edge_delay.push_back(0);
    }

    void add_round(test::CounterRandom& random, std::size_t round) {
        std::array<Ticks, ranks> compute{};
        for (auto& one : compute) { one = static_cast<Ticks>(random.next() % 2000); }
        Ticks const last = *std::max_element(compute.begin(), compute.end());
        auto const run = static_cast<std::int32_t>(round);
        for (std::size_t r = 0; r < ranks; ++r) {
            add(graphs[r], SpanKind::compute, 1, end, compute[r], -1);
            add(graphs[r], SpanKind::communication, 2, end + compute[r], last - compute[r] + transfer, run);
            links.push_back({static_cast<std::uint32_t>(r), run, static_cast<std::uint32_t>(round), transfer});
            alone[r] += compute[r] + transfer;
            computing[r] += compute[r];
        }
        slowest += last;
        end += last + transfer;
    }
};

void on_many_threads(int count, std::function<void(int)> const& task) {
    std::vector<std::jthread> threads;
    for (int first = 0; first < 3; ++first) {
        threads.emplace_back([=, &task] {
            for (int i = count - 1 - first; i >= 0; i -= 3) { task(i); }
        });
    }
}

Ticks step_if(PathAnswer const& answer, std::string const& what) {
    auto const found = std::find_if(answer.what_if.begin(), answer.what_if.end(),
                                    [&](StepIf const& one) { return words_of(one) == what; });
    return found == answer.what_if.end() ? -1 : found->step;
}

TEST(TracePathJoin, ManyStretchesAreTheStepThatTheRoundsAddUpTo) {
    Rounds const job{1};
    auto const answer = critical_path(job.graphs, job.links, {0, 0, 0}, on_many_threads);
    EXPECT_EQ(answer.depth, job.end);
    EXPECT_EQ(answer.measured, job.end);
    EXPECT_EQ(answer.tasks, ranks * (2 * rounds + 1));
    EXPECT_EQ(answer.by_kind[static_cast<std::size_t>(SpanKind::compute)], job.slowest);
    EXPECT_EQ(answer.by_kind[static_cast<std::size_t>(SpanKind::communication)], job.end - job.slowest);
    EXPECT_EQ(answer.work, std::accumulate(job.alone.begin(), job.alone.end(), Ticks{0}));
    EXPECT_EQ(step_if(answer, "communication is free"), job.slowest);
    Ticks const mean = std::accumulate(job.alone.begin(), job.alone.end(), Ticks{0}) / static_cast<Ticks>(ranks);
    EXPECT_EQ(step_if(answer, "no waiting for late ranks"), mean);
}

TEST(TracePathJoin, ThreadsChangeNothing) {
    Rounds const job{2};
    std::vector<Ticks> const clocks{0, 900, -1300}; // what is off shows in the order of tasks
    auto const one = critical_path(job.graphs, job.links, clocks);
    auto const other = critical_path(job.graphs, job.links, clocks, on_many_threads);
    EXPECT_EQ(one.depth, other.depth);
    EXPECT_EQ(one.work, other.work);
    EXPECT_EQ(one.edges, other.edges);
    EXPECT_EQ(one.by_kind, other.by_kind);
    ASSERT_EQ(one.pieces.size(), other.pieces.size());
    for (std::size_t i = 0; i < one.pieces.size(); ++i) {
        EXPECT_EQ(one.pieces[i].task, other.pieces[i].task);
        EXPECT_EQ(one.pieces[i].rank, other.pieces[i].rank);
        EXPECT_EQ(one.pieces[i].begin, other.pieces[i].begin);
    }
}

/// Partial results come from outside: their tasks may be numbered in any way.
TEST(TracePathJoin, TasksThatAreNotInTheOrderOfTimeAreEachThereOnce) {
    Rounds job{3};
    auto& begins = job.graphs[1].begin;
    std::reverse(begins.begin() + 1, begins.end());
    auto const answer = critical_path({job.graphs[1]}, {}, {0}, on_many_threads);
    EXPECT_EQ(answer.tasks, 2 * rounds + 1);
    EXPECT_EQ(answer.edges, 2 * rounds);
    EXPECT_EQ(answer.depth, std::accumulate(job.graphs[1].cost.begin(), job.graphs[1].cost.end(), Ticks{0}));
}

} // namespace
} // namespace headroom
