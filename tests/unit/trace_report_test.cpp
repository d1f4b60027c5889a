#include "headroom/trace/trace_report.hpp"

#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::laws;
using namespace headroom::trace;

namespace {

constexpr Ticks ms = 1'000'000;

RankDigest rank_of(std::int64_t number, Ticks compute, Ticks exposed, Ticks memory, Ticks idle) {
    RankDigest rank;
    rank.rank = number;
    DeviceTimes& whole = rank.breakdown.whole;
    whole.window = compute + exposed + memory + idle;
    whole.compute = compute;
    whole.communication = whole.exposed = exposed;
    whole.memory_only = memory;
    whole.idle = idle;
    return rank;
}

TraceAnswer answer_of(std::vector<RankDigest> ranks) {
    TraceAnswer answer;
    answer.ranks = std::move(ranks);
    return answer;
}

TEST(TraceReport, SharesAreOfAllRanks) {
    auto const shares = device_shares_of(
        answer_of({rank_of(0, 40 * ms, 30 * ms, 10 * ms, 20 * ms), rank_of(1, 80 * ms, 10 * ms, 0, 10 * ms)}));
    ASSERT_TRUE(shares);
    EXPECT_DOUBLE_EQ(shares->compute, 0.6);
    EXPECT_DOUBLE_EQ(shares->exposed, 0.2);
    EXPECT_DOUBLE_EQ(shares->memory, 0.05);
    EXPECT_DOUBLE_EQ(shares->idle, 0.15);
}

TEST(TraceReport, SharesOfTotalsAreNotKnown) {
    auto totals = rank_of(0, 40 * ms, 30 * ms, 0, 0);
    totals.breakdown.only_sums = true;
    EXPECT_FALSE(device_shares_of(answer_of({totals})));
    EXPECT_EQ(trace_verdict(answer_of({totals})).finding, TimeFinding::totals);
    EXPECT_FALSE(device_shares_of(answer_of({rank_of(0, 0, 0, 0, 0)})));
}

TEST(TraceReport, VerdictNamesTheLargestUseOfTime) {
    auto const finding = [](RankDigest rank) { return trace_verdict(answer_of({std::move(rank)})).finding; };
    EXPECT_EQ(finding(rank_of(0, 50, 10, 0, 40)), TimeFinding::exposed_communication);
    EXPECT_EQ(finding(rank_of(0, 66, 9, 0, 25)), TimeFinding::idle);
    EXPECT_EQ(finding(rank_of(0, 70, 9, 0, 21)), TimeFinding::computation);
    auto on_host = rank_of(0, 50, 0, 0, 50);
    on_host.breakdown.on_host = true;
    EXPECT_EQ(finding(on_host), TimeFinding::computation);
}

TEST(TraceReport, VerdictNamesWhyDevicesAreIdle) {
    auto rank = rank_of(0, 50, 0, 0, 50);
    rank.breakdown.idle = {.host_bound = 10, .waiting = 30, .other = 10};
    auto const verdict = trace_verdict(answer_of({rank}));
    EXPECT_EQ(verdict.idle_reason, IdleReason::waiting);
    EXPECT_DOUBLE_EQ(verdict.idle_reason_share, 0.6);
}

TEST(TraceReport, VerdictAddsUpFiveLateRanks) {
    auto answer = answer_of({rank_of(0, 1, 1, 1, 1)});
    for (std::int64_t const rank : {7, 3, 5, 1, 9, 2}) {
        answer.stragglers.push_back({rank, StragglerReason::arrives_last, 0.5, 10, 4, 8});
        answer.collectives.waiting.push_back({rank, rank, 0, 10 * rank});
    }
    auto const late = trace_verdict(answer).late;
    ASSERT_TRUE(late);
    EXPECT_EQ(late->ranks, (std::vector<std::int64_t>{1, 3, 5, 7, 9}));
    EXPECT_EQ(late->last, 25);
    EXPECT_EQ(late->kept_waiting, 250);
    answer.stragglers = {{2, StragglerReason::computes_longer, 0.1, 10, 0, 0}};
    EXPECT_FALSE(trace_verdict(answer).late);
}

TEST(TraceReport, VerdictNamesTheLargestPartOfThePath) {
    auto answer = answer_of({rank_of(0, 1, 1, 1, 1)});
    PathAnswer path;
    path.depth = 100;
    path.by_kind[static_cast<std::size_t>(SpanKind::compute)] = 40;
    path.by_kind[static_cast<std::size_t>(SpanKind::launch)] = 30;
    path.delays_by[static_cast<std::size_t>(TraceEdge::program)] = 30;
    answer.path = path;
    auto const finding = trace_verdict(answer).path;
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->part, PathPart::host);
    EXPECT_DOUBLE_EQ(finding->share, 0.6);
}

TEST(TraceReport, FormatsAreThoseOfRecordedTypes) {
    EXPECT_EQ(stated_format("[[64, 8]] c10::BFloat16"), NumberFormat::bf16);
    EXPECT_EQ(stated_format("[[64, 8], [8]] c10::Half, float"), NumberFormat::fp16);
    EXPECT_EQ(stated_format("[[64, 8]] double"), NumberFormat::fp64);
    EXPECT_EQ(stated_format("[[64, 8]]"), std::nullopt);
}

TEST(TraceReport, ShareOfTheRoofIsTheLeastTimeOverTheMean) {
    Processor machine;
    machine.peak[NumberFormat::fp32] = FlopsPerSecond{1e12};
    machine.levels = {{"memory", BytesPerSecond{1e11}, Bytes{}}};
    ShapedKernel kernel{"gemm", "[[64, 64]] float", 2, 4 * ms, 1e9, 1e6};
    ASSERT_TRUE(share_of_roof(kernel, machine));
    EXPECT_DOUBLE_EQ(*share_of_roof(kernel, machine), 0.5);
    kernel.shape = "[[64, 64]] double";
    EXPECT_FALSE(share_of_roof(kernel, machine)) << "the machine has no rate of this format";
    EXPECT_FALSE(share_of_roof({"copy", "", 2, 4 * ms, 0.0, 0.0}, machine)) << "no work is known";
    machine.peak[NumberFormat::tf32] = FlopsPerSecond{8e12};
    ShapedKernel const rounds{"sm80_xmma_gemm_f32f32_tf32f32_f32", "[[64, 64]] float", 2, 1 * ms, 2e9, 1e6};
    EXPECT_DOUBLE_EQ(share_of_roof(rounds, machine).value_or(0.0), 0.5) << "matrix units take 32-bit inputs as TF32";
    ShapedKernel const faster{"gemm", "[[64, 64]] float", 2, 1 * ms, 2e9, 1e6};
    EXPECT_FALSE(share_of_roof(faster, machine)) << "four times the peak: another format than the inputs'";
}

TEST(TraceReport, KernelsOfAllRanksAddUp) {
    auto first = rank_of(0, 1, 1, 1, 1), second = rank_of(1, 1, 1, 1, 1);
    first.breakdown.names = {{"a", SpanKind::compute, 1, 5, 5, 5}, {"b", SpanKind::compute, 2, 8, 3, 5}};
    second.breakdown.names = {{"a", SpanKind::compute, 2, 7, 1, 6}, {"a", SpanKind::memory, 1, 1, 1, 1}};
    auto const totals = kernel_totals({first, second});
    ASSERT_EQ(totals.size(), 3U);
    EXPECT_EQ(totals[0].name, "a");
    EXPECT_EQ(totals[0].total, 12);
    EXPECT_EQ(totals[0].count, 3);
    EXPECT_EQ(totals[0].shortest, 1);
    EXPECT_EQ(totals[0].longest, 6);
}

TEST(TraceReport, UnreadFilesAreIssues) {
    auto const report =
        trace_report({.paths = {"b", "a"}, .top = 1, .machine = {}},
                     {.ranks = {rank_of(0, 1, 1, 1, 1)}, .unread = {"x: cut", "y: cut"}, .left_out = {}});
    EXPECT_EQ(report.question.paths, (std::vector<std::string>{"a", "b"}));
    ASSERT_FALSE(report.answer.issues.empty());
    EXPECT_EQ(report.answer.issues.back().count, 2U);
    EXPECT_EQ(report.answer.issues.back().first_at, "x: cut");
}

TEST(TraceReport, StepsAreThoseOfTheSlowestRank) {
    auto first = rank_of(0, 1, 1, 1, 1), second = rank_of(1, 1, 1, 1, 1);
    auto const step = [](std::int64_t number, Ticks window) {
        StepShares one;
        one.step.number = number;
        one.shares.window = window;
        return one;
    };
    first.breakdown.steps = {step(2, 10), step(1, 9)};
    second.breakdown.steps = {step(1, 8), step(2, 11)};
    auto const answer = answer_of({first, second});
    auto const slowest = slowest_steps(answer);
    ASSERT_EQ(slowest.size(), 2U);
    EXPECT_EQ(slowest[0].rank->rank, 0);
    EXPECT_EQ(slowest[0].step->shares.window, 9);
    EXPECT_EQ(slowest[1].rank->rank, 1);
    EXPECT_EQ(times_rows(answer).size(), 6U);
}

} // namespace
} // namespace headroom
