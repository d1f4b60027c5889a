#include "support/stream_programs.hpp"

#include "headroom/error.hpp"
#include "headroom/stream_simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace headroom {
namespace {

using test::PlainStreams;
using test::random_program;

constexpr std::uint64_t programs = 3000;
constexpr Ticks any_cost = Ticks{1} << 36;

template <class Check> void for_random_programs(std::uint64_t count, int most_tasks, Ticks longest, Check check) {
    for (std::uint64_t seed = 0; seed < count && !testing::Test::HasFailure(); ++seed) {
        StreamProgram const program = random_program(seed, most_tasks, longest);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(program.size()) + " tasks on " +
                     std::to_string(program.streams.size()) + " streams");
        check(program);
    }
}

/// Each stream has a link of its own, or none.
StreamProgram without_sharing(StreamProgram program) {
    program.slowdown = 0.0;
    for (std::size_t s = 0; s < program.streams.size(); ++s) {
        if (program.streams[s].link != no_link) { program.streams[s].link = static_cast<LinkIndex>(s); }
    }
    return program;
}

Dag graph_of(StreamProgram const& program) {
    DagResult built = build_dag(program.cost, test::all_edges(program));
    EXPECT_FALSE(built.fault);
    return std::move(built.dag);
}

/// When tasks begin on streams that never slow each other: along numbers, for edges lead to larger ones.
std::vector<Ticks> earliest_begins(StreamProgram const& program) {
    Dag const dag = graph_of(program);
    std::vector<Ticks> begin(program.size(), 0);
    for (TaskId v = 0; v < program.size(); ++v) {
        for (TaskId const before : dag.predecessors(v)) {
            begin[v] = std::max(begin[v], begin[before] + dag.cost(before));
        }
    }
    return begin;
}

// ---- without sharing: longest paths --------------------------------------------------------------------------------

TEST(StreamSimulationProperty, WithoutSharingItIsTheLongestPath) {
    for_random_programs(programs, 150, any_cost, [](StreamProgram const& drawn) {
        StreamProgram const program = without_sharing(drawn);
        StreamRun const run = run_streams(program);
        DagMeasure const measured = measure(graph_of(program));
        ASSERT_EQ(run.makespan, measured.depth);
        ASSERT_EQ(run.begin, earliest_begins(program));
        ASSERT_EQ(run.critical_path, measured.critical_path);
        ASSERT_EQ(run.critical_stretch, 0);
        for (std::size_t v = 0; v < program.size(); ++v) { ASSERT_EQ(run.end[v], run.begin[v] + program.cost[v]); }
    });
}

// ---- with it: a second simulator, tick by tick ---------------------------------------------------------------------

TEST(StreamSimulationProperty, EveryTaskBeginsAndEndsAtTheTicksOfASimulatorThatLooksAtAllOfThem) {
    for_random_programs(programs, 60, any_cost, [](StreamProgram const& program) {
        StreamRun const run = run_streams(program);
        PlainStreams<Ticks> plain{program};
        ASSERT_TRUE(plain.run());
        for (std::size_t v = 0; v < program.size(); ++v) {
            ASSERT_EQ(run.begin[v], plain.begin(v)) << "task " << v;
            ASSERT_EQ(run.end[v], plain.end(v)) << "task " << v;
        }
        ASSERT_EQ(run.makespan, plain.makespan());
    });
}

} // namespace
} // namespace headroom
