#include "support/made_trace.hpp"

#include "headroom/trace/trace_answer.hpp"
#include "headroom/trace/trace_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::network;
using namespace headroom::trace;

namespace {

constexpr Ticks ms = 1'000'000;

/// compute + exposed + memory_only + idle = window, overlap in addition.
DeviceTimes times_of(Ticks compute, Ticks exposed, Ticks memory, Ticks idle, Ticks overlap = 0) {
    DeviceTimes times;
    times.window = compute + exposed + memory + idle;
    times.end = times.window;
    times.busy = times.window - idle;
    times.idle = idle;
    times.compute = compute;
    times.communication = exposed + overlap;
    times.overlap = overlap;
    times.exposed = exposed;
    times.memory = times.memory_only = memory;
    return times;
}

RankDigest rank_of(std::int64_t number, DeviceTimes const& whole) {
    RankDigest rank;
    rank.rank = number;
    rank.source = "rank" + std::to_string(number) + ".json";
    rank.breakdown.whole = whole;
    return rank;
}

void add_step(RankDigest& rank, std::int64_t number, DeviceTimes const& shares) {
    rank.breakdown.steps.push_back({{number, 0, shares.window}, false, shares, {}});
}

bool has_issue(TraceAnswer const& answer, std::string const& kind, std::uint64_t count) {
    return std::any_of(answer.issues.begin(), answer.issues.end(),
                       [&](auto const& issue) { return issue.kind == kind && issue.count == count; });
}

// ---- the split ------------------------------------------------------------------------------------------------------

TEST(TraceAnswer, SumsRanksBeforeItDivides) {
    // Expectation: 60 ms of compute and 40 ms of communication that shows, of 60 ms in all, over both ranks; 200 ms of
    // windows. s = 40/100, gamma = 60/60; of 200 ms 60 ms divide, of which 20 ms hide communication: the ceiling is 200/160.
    auto const answer = trace_answer({rank_of(0, times_of(40 * ms, 10 * ms, 5 * ms, 45 * ms, 20 * ms)),
                                      rank_of(1, times_of(20 * ms, 30 * ms, 5 * ms, 45 * ms))});
    EXPECT_EQ(answer.workers, 2);
    ASSERT_TRUE(answer.serial);
    EXPECT_DOUBLE_EQ(answer.serial->value, 0.4);
    EXPECT_EQ(answer.serial->at_workers, 2);
    EXPECT_DOUBLE_EQ(answer.gamma.value(), 1.0);
    EXPECT_DOUBLE_EQ(answer.overlap_fraction.value(), 20.0 / 60.0);
    EXPECT_DOUBLE_EQ(answer.ceiling.value(), 200.0 / 160.0);
    EXPECT_DOUBLE_EQ(answer.ceiling_over_one_worker.value(), (140.0 + 2 * 60.0) / 160.0);
    ASSERT_EQ(answer.expected.size(), 4U);
    EXPECT_EQ(answer.expected[0].workers, 4);
    EXPECT_DOUBLE_EQ(answer.expected[0].speedup_over_now, 200.0 / 170.0);
    EXPECT_DOUBLE_EQ(answer.expected[0].efficiency, 100.0 / 170.0);
    EXPECT_EQ(answer.expected[3].workers, 32);
    EXPECT_DOUBLE_EQ(answer.expected[3].speedup_over_now, *answer.ceiling) << "hidden communication is exposed by then";
}

TEST(TraceAnswer, SaysOfSumsOnlyWhatSumsSay) {
    auto rank = rank_of(0, times_of(30 * ms, 10 * ms, 0, 0));
    rank.breakdown.only_sums = true;
    auto const answer = trace_answer({rank});
    EXPECT_DOUBLE_EQ(answer.serial.value().value, 0.25);
    EXPECT_DOUBLE_EQ(answer.gamma.value(), 1.0 / 3.0);
    EXPECT_FALSE(answer.overlap_fraction); // unknown, not none
    ASSERT_EQ(answer.notes.size(), 1U);
    auto const changes = compare(answer, answer);
    EXPECT_EQ(changes.parts.back().name, "memory"); // idle time is unknown
}

TEST(TraceAnswer, IsEmptyWhereNothingRan) {
    auto const answer = trace_answer({rank_of(0, {})});
    EXPECT_FALSE(answer.serial);
    EXPECT_FALSE(answer.gamma);
    EXPECT_FALSE(answer.ceiling);
    EXPECT_TRUE(answer.expected.empty());
    EXPECT_FALSE(answer.step_ns);
    EXPECT_EQ(trace_answer({}).workers, 1);
}

TEST(TraceAnswer, HasNoCeilingWhereAllDivides) {
    auto const answer = trace_answer({rank_of(0, times_of(30 * ms, 0, 0, 0))});
    EXPECT_EQ(answer.serial.value().value, 0.0);
    EXPECT_FALSE(answer.ceiling);
    EXPECT_DOUBLE_EQ(answer.expected.at(0).speedup_over_now, 2.0);
}

TEST(TraceAnswer, NamesAFirstStepThatDecidesTheSums) {
    auto rank = rank_of(0, times_of(30 * ms, 0, 0, 0));
    for (int step = 0; step < 5; ++step) { add_step(rank, step, times_of(step == 0 ? 20 * ms : 2 * ms, 0, 0, 0)); }
    auto const notes = trace_answer({rank}).notes;
    EXPECT_NE(std::ranges::find(notes, "step 0 takes 10 times the median step and is in all sums and shares; "
                                       "--steps 1..4 leaves it out"),
              notes.end());
    rank.breakdown.steps.erase(rank.breakdown.steps.begin());
    EXPECT_EQ(trace_answer({rank}).notes.size(), notes.size() - 1);
}

TEST(TraceAnswer, ComparesStepsOfTheSameWork) {
    auto const is_uneven = [](PhaseKind of_the_long_one) {
        test::MadeTrace made;
        made.on_stream(SpanKind::compute, "gemm", 7, 0, 8 * ms);
        auto rank = digest_of(made.trace());
        for (int step = 0; step < 8; ++step) {
            Ticks const length = step == 4 ? 5 * ms : ms;
            add_step(rank, step, times_of(length, 0, 0, 0));
            rank.breakdown.steps.back().step.phase = {step == 4 ? of_the_long_one : PhaseKind::decode, 1, 1};
        }
        auto const answer = trace_answer({rank});
        return answer.path && std::ranges::any_of(answer.path->advice, [](Advice const& one) {
                   return one.rule == AdviceRule::uneven_steps;
               });
    };
    EXPECT_TRUE(is_uneven(PhaseKind::decode));
    EXPECT_FALSE(is_uneven(PhaseKind::prefill)) << "a prefill is no uneven decode";
}

// ---- workers, and how ranks meet ------------------------------------------------------------------------------------

TEST(TraceAnswer, DoesNotInventHowManyWorkersThereWere) {
    auto const alone = rank_of(0, times_of(30 * ms, 10 * ms, 0, 0));
    auto const unknown = trace_answer({alone});
    EXPECT_FALSE(unknown.workers);
    ASSERT_TRUE(unknown.serial);
    EXPECT_DOUBLE_EQ(unknown.serial->value, 0.25);
    EXPECT_FALSE(unknown.serial->at_workers);
    EXPECT_TRUE(unknown.ceiling) << "over the present number, whatever it is";
    EXPECT_FALSE(unknown.ceiling_over_one_worker);
    EXPECT_TRUE(unknown.expected.empty());
    auto const stated = trace_answer({alone}, {}, 64);
    EXPECT_EQ(stated.workers, 64);
    EXPECT_EQ(stated.serial.value().at_workers, 64);
    EXPECT_EQ(stated.expected.at(0).workers, 128);
    EXPECT_TRUE(has_issue(stated, "rank missing", 63));
    EXPECT_EQ(trace_answer({rank_of(0, times_of(30 * ms, 0, 0, 0))}).workers, 1) << "nobody to communicate with";
    auto other = alone;
    other.world_size = 8;
    auto const differ = trace_answer({other}, {}, 64);
    EXPECT_EQ(differ.workers, 64);
    EXPECT_TRUE(has_issue(differ, "world sizes differ", 1));
}

TEST(TraceAnswer, DrawsNoAdviceFromSumsThatLackWork) {
    auto rank = rank_of(0, times_of(30 * ms, 10 * ms, 0, 0));
    rank.breakdown.launches = 1000;
    rank.breakdown.without_work = 990;
    rank.breakdown.work_missing = true;
    auto const answer = trace_answer({rank, rank_of(1, times_of(60 * ms, 10 * ms, 0, 0))});
    EXPECT_FALSE(answer.serial);
    EXPECT_FALSE(answer.gamma);
    EXPECT_FALSE(answer.ceiling);
    EXPECT_TRUE(answer.expected.empty());
    EXPECT_TRUE(answer.stragglers.empty()) << "the other seems to compute longer";
    EXPECT_EQ(trace_verdict(answer).finding, TimeFinding::missing_work);
    EXPECT_EQ(answer.without_work, 990);
}

TEST(TraceAnswer, BelievesTheStatedWorldSize) {
    auto first = rank_of(0, times_of(ms, ms, 0, 0)), second = rank_of(2, times_of(ms, ms, 0, 0));
    EXPECT_EQ(trace_answer({first, second}).workers, 2);
    first.runs.labels.push_back({.group_size = 16});
    EXPECT_EQ(trace_answer({first, second}).workers, 16); // a group has no more ranks than there are
    second.world_size = 64;
    auto const answer = trace_answer({first, second});
    EXPECT_EQ(answer.workers, 64);
    EXPECT_EQ(answer.serial.value().at_workers, 64);
    EXPECT_TRUE(has_issue(answer, "rank missing", 62));
    auto const missing = std::find_if(answer.issues.begin(), answer.issues.end(),
                                      [](auto const& issue) { return issue.kind == "rank missing"; });
    EXPECT_EQ(missing->first_at, "rank 1");
}

TEST(TraceAnswer, CountsWhatRanksStateWrongly) {
    auto first = rank_of(0, times_of(ms, ms, 0, 0)), second = rank_of(1, times_of(ms, ms, 0, 0));
    auto third = rank_of(7, times_of(ms, ms, 0, 0));
    first.world_size = -4;
    second.world_size = std::int64_t{1} << 60;
    auto answer = trace_answer({first, second});
    EXPECT_EQ(answer.workers, 2);
    EXPECT_TRUE(has_issue(answer, "world size is no count of workers", 2));
    first.world_size = second.world_size = 2;
    third.world_size = 3;
    answer = trace_answer({first, second, third});
    EXPECT_TRUE(has_issue(answer, "world sizes differ", 1));
    EXPECT_TRUE(has_issue(answer, "rank beyond the world size", 1));
    EXPECT_TRUE(has_issue(answer, "rank missing", 1));
    third.world_size = first.world_size = second.world_size = std::nullopt;
    answer = trace_answer({first, second, third}); // ranks 0, 1 and 7 of an unknown number
    EXPECT_FALSE(has_issue(answer, "rank beyond the world size", 1));
    EXPECT_TRUE(has_issue(answer, "rank missing", 5));
}

TEST(TraceAnswer, TellsOfRanksThatAreThereTwiceAndOfStepsThatDiffer) {
    auto first = rank_of(0, times_of(ms, ms, 0, 0)), second = rank_of(1, times_of(ms, ms, 0, 0));
    add_step(first, 5, times_of(ms, 0, 0, 0));
    add_step(second, 6, times_of(ms, 0, 0, 0));
    auto copy = second;
    copy.source = "copy.json";
    auto const answer = trace_answer({first, second, copy});
    EXPECT_EQ(answer.ranks.size(), 3U);
    EXPECT_TRUE(has_issue(answer, "rank there twice", 1));
    EXPECT_TRUE(has_issue(answer, "steps differ from those of the first rank", 2));
}

TEST(TraceAnswer, IsTheSameWhateverTheOrderOfRanks) {
    std::vector<RankDigest> ranks;
    for (std::int64_t number = 0; number < 5; ++number) {
        ranks.push_back(rank_of(number, times_of((number + 1) * ms, ms, 0, ms)));
        ranks.back().issues.push_back({"not a number", 1, ranks.back().source});
    }
    auto const forward = trace_answer(ranks);
    std::reverse(ranks.begin(), ranks.end());
    auto const backward = trace_answer(ranks);
    EXPECT_EQ(forward.issues, backward.issues);
    EXPECT_EQ(forward.serial->value, backward.serial->value);
    ASSERT_EQ(backward.ranks.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i) { EXPECT_EQ(backward.ranks[i].rank, static_cast<std::int64_t>(i)); }
    EXPECT_EQ(forward.stragglers.size(), backward.stragglers.size());
}

TEST(TraceAnswer, TakesOfEachStepTheSlowestRank) {
    auto first = rank_of(0, times_of(ms, ms, 0, 0)), second = rank_of(1, times_of(ms, ms, 0, 0));
    for (std::int64_t number = 1; number <= 3; ++number) {
        add_step(first, number, times_of(10 * number * ms, 0, 0, 0)); // 10, 20, 30
        add_step(second, number, times_of(20 * ms, 0, 0, 0));
    }
    auto const steps = trace_answer({first, second}).step_ns.value(); // 20, 20, 30
    EXPECT_DOUBLE_EQ(steps.p50, 20e6);
    EXPECT_DOUBLE_EQ(steps.p90, 28e6);
    EXPECT_DOUBLE_EQ(steps.max, 30e6);
}

// ---- stragglers -----------------------------------------------------------------------------------------------------

RankDigest with_collectives(RankDigest rank, std::vector<Ticks> const& begins) {
    rank.clock_is_absolute = true;
    rank.runs.labels.push_back({.name = "ncclDevKernel_AllReduce",
                                .what = "allreduce",
                                .collective = Collective::all_reduce,
                                .group = "0",
                                .group_ranks = {0, 1, 2, 3},
                                .group_size = 4});
    for (std::size_t k = 0; k < begins.size(); ++k) {
        rank.runs.runs.push_back({.begin = begins[k], .end = static_cast<Ticks>(k + 1) * 10 * ms});
    }
    return rank;
}

TEST(TraceAnswer, NamesTheRankThatOthersWaitFor) {
    std::vector<RankDigest> ranks;
    for (std::int64_t number = 0; number < 4; ++number) {
        std::vector<Ticks> begins;
        for (Ticks k = 0; k < 8; ++k) { begins.push_back(k * 10 * ms + (number == 2 ? 5 * ms : number * 1000)); }
        ranks.push_back(with_collectives(rank_of(number, times_of(40 * ms, 40 * ms, 0, 0)), begins));
    }
    auto const answer = trace_answer(ranks);
    ASSERT_EQ(answer.stragglers.size(), 1U);
    EXPECT_EQ(answer.stragglers[0].rank, 2);
    EXPECT_EQ(words_of(answer.stragglers[0]), "arrives last in 8 of 8 collectives");
    EXPECT_DOUBLE_EQ(answer.stragglers[0].share, 1.0);
    EXPECT_EQ(answer.stragglers[0].cost, 8 * (5 * ms - 3000));
    EXPECT_EQ(answer.ranks[2].runs.size(), 8U); // lent and given back
}

/// A rank whose host works until `launched` on the common clock, then launches an all-reduce that ends at 40 ms.
/// Its trace begins at `epoch`: all of its ticks count from there.
RankDigest launching(std::int64_t number, Ticks epoch, Ticks launched) {
    test::MadeTrace made;
    made.on_thread(SpanKind::host, "work", 1, 10 * ms - epoch, launched - epoch);
    made.on_thread(SpanKind::launch, "cudaLaunchKernel", 1, launched - epoch, launched - epoch + 1000, 7);
    made.on_stream(SpanKind::communication, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, launched - epoch + 2000,
                   40 * ms - epoch, 7);
    made.step(1, 10 * ms - epoch, 40 * ms - epoch);
    auto& trace = made.trace();
    trace.rank = number;
    trace.epoch_ns = epoch;
    trace.clock_is_absolute = true;
    return digest_of(trace);
}

TEST(TraceAnswer, JoinsRanksWhoseTracesBeginAtOtherMoments) {
    // Rank 1 launches last, so the path is its: 25 ms of work, then the rest of the transfer.
    auto const alike = trace_answer({launching(0, 0, 20 * ms), launching(1, 0, 35 * ms)}).path.value();
    auto const apart = trace_answer({launching(0, 0, 20 * ms), launching(1, 9 * ms, 35 * ms)}).path.value();
    auto const host = static_cast<std::size_t>(SpanKind::host);
    EXPECT_EQ(alike.by_kind[host], 25 * ms);
    EXPECT_EQ(apart.by_kind, alike.by_kind);
    EXPECT_EQ(apart.depth, alike.depth);
    EXPECT_EQ(apart.depth, 30 * ms);
    EXPECT_EQ(apart.notes, alike.notes);
}

TEST(TraceAnswer, NamesTheRankThatComputesLonger) {
    std::vector<RankDigest> ranks;
    for (std::int64_t number = 0; number < 4; ++number) {
        ranks.push_back(rank_of(number, times_of((number == 1 ? 112 : 100) * ms, ms, 0, 0)));
    }
    auto const answer = trace_answer(ranks);
    ASSERT_EQ(answer.stragglers.size(), 1U);
    EXPECT_EQ(answer.stragglers[0].rank, 1);
    EXPECT_EQ(words_of(answer.stragglers[0]), "computes 12 % longer than the median");
    EXPECT_EQ(answer.stragglers[0].cost, 12 * ms);
}

// ---- comparison -----------------------------------------------------------------------------------------------------

TEST(TraceComparison, IsPerStepWhereBothHaveSteps) {
    auto before = rank_of(0, times_of(100 * ms, 20 * ms, 0, 0)), after = rank_of(0, times_of(30 * ms, 20 * ms, 0, 0));
    for (std::int64_t number = 0; number < 4; ++number) { add_step(before, number, times_of(20 * ms, 5 * ms, 0, ms)); }
    for (std::int64_t number = 0; number < 2; ++number) { add_step(after, number, times_of(10 * ms, 8 * ms, ms, ms)); }
    before.breakdown.names = {{"gemm", SpanKind::compute, 40, 80 * ms, 0, 0},
                              {"relu", SpanKind::compute, 40, 4 * ms, 0, 0}};
    after.breakdown.names = {{"gemm", SpanKind::compute, 20, 20 * ms, 0, 0}, {"fused", SpanKind::compute, 2, ms, 0, 0}};
    auto const comparison = compare(trace_answer({before}), trace_answer({after}));
    EXPECT_TRUE(comparison.per_step);
    ASSERT_EQ(comparison.parts.size(), 5U);
    EXPECT_EQ(comparison.parts[0].name, "step");
    EXPECT_EQ(comparison.parts[0].count_before, 2) << "steps 0 and 1 are matched, 2 and 3 are in the baseline alone";
    EXPECT_EQ(comparison.matched_steps, 2);
    EXPECT_DOUBLE_EQ(comparison.speedup.value(), 1.3);
    EXPECT_DOUBLE_EQ(comparison.parts[0].before_ns, 26e6);
    EXPECT_DOUBLE_EQ(comparison.parts[0].after_ns, 20e6);
    EXPECT_DOUBLE_EQ(comparison.parts[2].after_ns, 8e6);
    ASSERT_EQ(comparison.kernels.size(), 3U);
    EXPECT_EQ(comparison.kernels[0].name, "gemm"); // 20 to 10 ms a step
    EXPECT_DOUBLE_EQ(comparison.kernels[0].before_ns, 20e6);
    EXPECT_DOUBLE_EQ(comparison.kernels[0].after_ns, 10e6);
    EXPECT_EQ(comparison.kernels[1].name, "relu"); // 1 ms to none
    EXPECT_EQ(comparison.kernels[1].count_after, 0);
    EXPECT_EQ(comparison.kernels[2].name, "fused"); // none to 0.5 ms
}

TEST(TraceComparison, IsOfWholeFilesWhereOneHasNoSteps) {
    auto before = rank_of(0, times_of(100 * ms, 20 * ms, 0, 0));
    add_step(before, 1, times_of(ms, 0, 0, 0));
    auto const after = rank_of(0, times_of(30 * ms, 20 * ms, 0, 0));
    auto const comparison = compare(trace_answer({before}), trace_answer({after}));
    EXPECT_FALSE(comparison.per_step);
    EXPECT_EQ(comparison.parts[0].name, "whole");
    EXPECT_DOUBLE_EQ(comparison.parts[0].before_ns, 120e6);
    EXPECT_DOUBLE_EQ(comparison.parts[0].after_ns, 50e6);
}

} // namespace
} // namespace headroom
