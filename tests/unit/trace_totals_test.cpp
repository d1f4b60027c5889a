// Answers to a trace that does not state when things ran, and answers that it must not give: totals of tables, counts
// of work.

#include "support/made_trace.hpp"
#include "support/trace_times.hpp"

#include "headroom/error.hpp"
#include "headroom/io/trace.hpp"
#include "headroom/trace/trace_answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace {

using namespace headroom;
using namespace headroom::trace;
using testing::IsEmpty;

constexpr Ticks us = 1'000;

std::filesystem::path sample(char const* name) {
    return std::filesystem::path{HEADROOM_SOURCE_DIR} / "tests/data/traces" / name;
}

TraceAnswer answer_of(char const* name) { return trace_answer(io::read_trace_set({{sample(name)}, {}}, {}, {}).ranks); }

/// Five runs of a kernel in one row, a collective of two, and a range that would be a step elsewhere.
RankTrace table_of_totals() {
    test::MadeTrace made;
    made.on_stream(SpanKind::compute, "gemm", 0, 0, 300 * us);
    made.on_stream(SpanKind::communication, "ncclDevKernel_AllReduce", 0, 300 * us, 400 * us);
    made.on_thread(SpanKind::annotation, "ProfilerStep*", 1, 0, 400 * us);
    made.trace().calls = {5, 2, 1};
    made.trace().only_sums = true;
    return made.trace();
}

TEST(TraceTotals, HaveNeitherStepsNorPathNorCollectives) {
    auto const digest = digest_of(table_of_totals());
    EXPECT_FALSE(digest.graph);
    EXPECT_THAT(digest.breakdown.steps, IsEmpty());
    EXPECT_THAT(digest.runs.runs, IsEmpty()) << "a sum over calls is no run";
    EXPECT_EQ(digest.breakdown.without_launch, 0);
    EXPECT_THAT(detected_steps(table_of_totals()), IsEmpty());
}

TEST(TraceTotals, CountCalls) {
    auto const breakdown = breakdown_of(table_of_totals());
    ASSERT_EQ(breakdown.names.size(), 2U);
    EXPECT_EQ(breakdown.names[0].count, 5);
    EXPECT_EQ(breakdown.names[0].total, 300 * us);
    EXPECT_EQ(breakdown.names[1].count, 2);
    EXPECT_EQ(breakdown.whole.count[0], 5);
    EXPECT_EQ(breakdown.whole.count[1], 2);
}

TEST(TraceTotals, GiveASerialFractionAndNoCeiling) {
    auto const answer = trace_answer({digest_of(table_of_totals())});
    EXPECT_DOUBLE_EQ(answer.serial.value().value, 0.25);
    EXPECT_DOUBLE_EQ(answer.gamma.value(), 1.0 / 3.0);
    EXPECT_FALSE(answer.ceiling);
    EXPECT_FALSE(answer.path);
    EXPECT_THAT(answer.expected, IsEmpty());
}

TEST(TraceTotals, NameNoSlowRank) {
    auto first = digest_of(table_of_totals()), second = first;
    second.rank = 1;
    second.breakdown.whole.compute *= 2;
    EXPECT_THAT(trace_answer({first, second}).stragglers, IsEmpty());
    first.breakdown.only_sums = second.breakdown.only_sums = false;
    EXPECT_EQ(trace_answer({first, second}).stragglers.size(), 1U) << "the same with times of day";
}

/// A rank of so many steps that each compute as long.
RankDigest digest_with_steps(std::int64_t rank, int steps, Ticks compute) {
    test::MadeTrace made;
    for (int step = 0; step < steps; ++step) {
        auto const at = step * 1'000 * us;
        made.on_stream(SpanKind::compute, "gemm", 7, at, at + compute);
        made.step(step, at, at + 1'000 * us);
    }
    auto digest = digest_of(made.trace());
    digest.rank = rank;
    return digest;
}

TEST(TraceStragglers, AFileWithMoreStepsIsNoSlowRank) {
    auto const one = digest_with_steps(0, 2, 300 * us), longer = digest_with_steps(1, 6, 300 * us);
    EXPECT_THAT(trace_answer({one, longer}).stragglers, IsEmpty());
    auto const slow = trace_answer({one, digest_with_steps(1, 6, 330 * us)}).stragglers;
    ASSERT_EQ(slow.size(), 1U);
    EXPECT_EQ(slow[0].rank, 1);
    EXPECT_NEAR(slow[0].share, 0.1, 1e-9);
    EXPECT_EQ(slow[0].cost, 6 * 30 * us);
    auto stepless = digest_with_steps(1, 6, 900 * us);
    stepless.breakdown.steps.clear();
    EXPECT_THAT(trace_answer({one, stepless}).stragglers, IsEmpty()) << "nobody says how much of a run it covers";
}

TEST(TraceTotals, CountedWorkReachesTheAnswer) {
    auto const answer = answer_of("ncu_raw.csv");
    ASSERT_EQ(answer.ranks.size(), 2U);
    ASSERT_EQ(answer.ranks[0].kernels.size(), 2U);
    auto const& gemm = answer.ranks[0].kernels[0];
    EXPECT_EQ(gemm.name, "gemm");
    EXPECT_EQ(gemm.count, 1);
    EXPECT_DOUBLE_EQ(gemm.flops, 1'020'000.0);
    EXPECT_DOUBLE_EQ(gemm.bytes, 3'500'000.0);
    EXPECT_THAT(gemm.shape, IsEmpty());
    EXPECT_FALSE(answer.path);
}

TEST(TraceTotals, CountedWorkIsTheMeanOfRunsWithATime) {
    test::MadeTrace made;
    auto const one = made.on_stream(SpanKind::compute, "gemm", 7, 0, 10 * us);
    auto const two = made.on_stream(SpanKind::compute, "gemm", 7, 10 * us, 40 * us);
    auto const none = made.on_stream(SpanKind::compute, "gemm", 7, 40 * us, 40 * us);
    made.trace().counted = {{one, 100.0, 10.0}, {two, 300.0, 50.0}, {none, 1e9, 1e9}};
    auto const kernels = digest_of(made.trace()).kernels;
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].count, 2);
    EXPECT_EQ(kernels[0].total, 40 * us);
    EXPECT_DOUBLE_EQ(kernels[0].flops, 200.0);
    EXPECT_DOUBLE_EQ(kernels[0].bytes, 30.0);
}

TEST(TraceTotals, ATraceWithoutTimesIsRefused) {
    try {
        answer_of("observer_1_1_0.json");
        FAIL() << "it has no times";
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::insufficient);
        EXPECT_THAT(error.what(), testing::HasSubstr("no times in this trace"));
    }
}

TEST(TraceSteps, TheMiddleOneOfThoseWithWorkIsTakenApart) {
    test::MadeTrace made;
    for (int step = 0; step < 2; ++step) {
        auto const at = step * 1'000 * us;
        made.on_thread(SpanKind::launch, "cudaLaunchKernel", 1, at + 10 * us, at + 20 * us, 1 + step);
        made.on_stream(SpanKind::compute, "gemm", 7, at + 100 * us, at + 200 * us, 1 + step);
        made.step(step, at, at + 1'000 * us);
    }
    EXPECT_EQ(middle_step(made.trace(), breakdown_of(made.trace())).number, 1);
    made.step(2, 2'000 * us, 2'100 * us);
    made.step(3, 2'100 * us, 2'200 * us); // the profiler had stopped
    auto const graph = digest_of(made.trace()).graph;
    ASSERT_TRUE(graph);
    EXPECT_EQ(graph->step.number, 1);
}

TEST(TraceSteps, AnOutlierInTheMiddleIsNotTakenApart) {
    test::MadeTrace made;
    Ticks at = 0;
    for (int step = 0; step < 9; ++step) { // the step in the middle saves a checkpoint
        Ticks const length = step == 4 ? 12'000 * us : 2'000 * us;
        made.on_stream(SpanKind::compute, "gemm", 7, at + 100 * us, at + 200 * us);
        made.step(step, at, at + length);
        at += length;
    }
    EXPECT_EQ(middle_step(made.trace(), breakdown_of(made.trace())).number, 3);
}

} // namespace
