#include "headroom/trace/trace_collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

using namespace headroom::network;
using namespace headroom::trace;

namespace {

CollectiveLabel label_of(Collective collective, std::string group = "0", std::int32_t size = 0) {
    CollectiveLabel label;
    label.name = "ncclDevKernel_" + std::string(name_of(collective));
    label.what = name_of(collective);
    label.collective = collective;
    label.group = std::move(group);
    label.group_size = size;
    return label;
}

/// A schedule whose waits and clocks are known: collective k ends on all ranks at once.
struct Schedule {
    std::vector<RankRuns> ranks;
    std::vector<std::vector<Ticks>> begin; ///< by rank and collective, on the true clock
    std::vector<Ticks> end;
    std::vector<Ticks> clock; ///< offset of each rank's clock
};

Schedule schedule(int ranks, int count, std::mt19937_64& random, Ticks most_clock,
                  std::vector<CollectiveLabel> labels) {
    Schedule result;
    std::uniform_int_distribution<Ticks> late(0, 400'000), gap(1'000'000, 3'000'000), tail(-3'000, 3'000);
    std::uniform_int_distribution<Ticks> clock(-most_clock, most_clock);
    std::uniform_int_distribution<std::size_t> pick(0, labels.size() - 1);
    result.begin.resize(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) {
        result.clock.push_back(clock(random));
        RankRuns rank;
        rank.rank = r;
        rank.epoch_ns = 1'700'000'000'000'000'000 + result.clock.back();
        rank.clock_is_absolute = true;
        rank.runs.labels = labels;
        result.ranks.push_back(rank);
    }
    Ticks now = 0;
    for (int k = 0; k < count; ++k) {
        auto const label = static_cast<std::uint32_t>(pick(random));
        now += gap(random);
        for (std::size_t r = 0; r < result.ranks.size(); ++r) {
            Ticks const begin = now + late(random);
            result.begin[r].push_back(begin);
            auto& runs = result.ranks[r].runs.runs;
            runs.push_back({.label = label,
                            .span = static_cast<std::uint32_t>(runs.size()),
                            .begin = begin,
                            .end = now + 600'000 + tail(random),
                            .bytes = 1 << 20});
        }
        result.end.push_back(now + 600'000);
    }
    return result;
}

std::vector<CollectiveLabel> blocking() {
    return {label_of(Collective::all_reduce), label_of(Collective::all_gather), label_of(Collective::reduce_scatter)};
}

void erase_runs(RankRuns& rank, std::size_t from, std::size_t count) {
    auto const begin = rank.runs.runs.begin() + static_cast<std::ptrdiff_t>(from);
    rank.runs.runs.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
}

/// Every matched collective joins runs that were one: `span` is the number that each was given.
bool joins_the_same(CollectiveAnswer const& answer, std::vector<RankRuns> const& ranks) {
    std::map<std::int64_t, RankRuns const*> by_rank;
    for (auto const& rank : ranks) { by_rank[rank.rank] = &rank; }
    return std::ranges::all_of(answer.matched, [&](MatchedCollective const& one) {
        std::vector<std::uint32_t> spans;
        for (std::size_t m = 0; m < one.members.size(); ++m) {
            spans.push_back(by_rank[one.members[m]]->runs.runs[one.runs[m]].span);
        }
        return std::ranges::adjacent_find(spans, std::ranges::not_equal_to{}) == spans.end();
    });
}

TEST(TraceCollectives, WordsOfTraces) {
    EXPECT_EQ(traced_collective("allreduce"), Collective::all_reduce);
    EXPECT_EQ(traced_collective("_allgather_base"), Collective::all_gather);
    EXPECT_EQ(traced_collective("allgather_into_tensor_coalesced"), Collective::all_gather);
    EXPECT_EQ(traced_collective("_reduce_scatter_base"), Collective::reduce_scatter);
    EXPECT_EQ(traced_collective("reduce_scatter_tensor_coalesced"), Collective::reduce_scatter);
    EXPECT_EQ(traced_collective("all_to_allv"), Collective::all_to_all);
    EXPECT_EQ(traced_collective("nccl:send 0->1"), Collective::point_to_point);
    EXPECT_EQ(traced_collective("gloo:all_reduce"), Collective::all_reduce);
    EXPECT_EQ(traced_collective("c10d::allreduce_"), Collective::all_reduce);
    EXPECT_EQ(traced_collective("_broadcast_oop"), Collective::broadcast);
    EXPECT_EQ(traced_collective("reduce"), Collective::reduce);
    EXPECT_EQ(traced_collective("barrier"), Collective::barrier);
    EXPECT_EQ(traced_collective("wait"), std::nullopt);
    EXPECT_EQ(traced_collective(""), std::nullopt);
}

TEST(TraceCollectives, NamesOfKernels) {
    EXPECT_EQ(collective_of_kernel("ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
              Collective::all_reduce);
    EXPECT_EQ(collective_of_kernel("ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)"),
              Collective::broadcast);
    EXPECT_EQ(collective_of_kernel("ncclReduceScatterRingLLKernel_sum_f32(ncclColl)"), Collective::reduce_scatter);
    EXPECT_EQ(collective_of_kernel("ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevComm*)"), Collective::reduce);
    EXPECT_EQ(collective_of_kernel("ncclDevKernel_SendRecv(ncclDevComm*)"), std::nullopt);
    EXPECT_EQ(collective_of_kernel("ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)"), std::nullopt);
    EXPECT_EQ(collective_of_kernel("void deep_ep::intranode::dispatch<8, 768>(int4*, float*)"), Collective::all_to_all);
    for (char const* const name :
         {"void mnnvl::moeA2ADispatchKernel<1>(x)", "mori::moe::EpCombineIntraNodeKernel(x)"}) {
        EXPECT_EQ(collective_of_kernel(name), Collective::all_to_all) << name;
    }
    EXPECT_EQ(collective_of_kernel("hcom_allReduce__585_0_1"), Collective::all_reduce);
    EXPECT_EQ(collective_of_kernel("hcom_send__1_0_1"), Collective::point_to_point);
    EXPECT_EQ(collective_of_kernel("void aiter::reduce_scatter_cross_device_store<half, 8>(x)"),
              Collective::reduce_scatter);
    EXPECT_EQ(collective_of_kernel("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)"),
              Collective::all_reduce);
    EXPECT_EQ(
        collective_of_kernel("void c10d::symmetric_memory::(anonymous namespace)::multimem_all_reduce_kernel<4>()"),
        Collective::all_reduce);
}

TEST(TraceCollectives, WidthsOfTypes) {
    EXPECT_EQ(element_bytes_of("Float"), 4);
    EXPECT_EQ(element_bytes_of("c10::BFloat16"), 2);
    EXPECT_EQ(element_bytes_of("Long"), 8);
    EXPECT_EQ(element_bytes_of("torch.float16"), 2);
    EXPECT_EQ(element_bytes_of("Float8_e4m3fn"), 1);
    EXPECT_EQ(element_bytes_of("string"), 0);
}

/// A profiler that lost some in the middle of calls that all look alike: the rest still finds its partners.
TEST(TraceCollectives, LostOnesLeaveTheOthersTogether) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        std::mt19937_64 random(seed);
        Ticks const most_clock = seed % 2 == 0 ? 0 : 50'000'000;
        auto made = schedule(3, 40, random, most_clock, {label_of(Collective::all_reduce)});
        std::uniform_int_distribution<std::size_t> place(1, 36);
        for (std::uint64_t lost = 0; lost < 1 + seed % 3; ++lost) { erase_runs(made.ranks[1], place(random), 1); }
        auto const answer = match_collectives(made.ranks);
        EXPECT_TRUE(joins_the_same(answer, made.ranks)) << seed;
        EXPECT_EQ(answer.matched.size(), 40U) << seed;
    }
}

TEST(TraceCollectives, PercentilesInterpolate) {
    auto const of = percentiles_of({40, 10, 20, 30});
    EXPECT_DOUBLE_EQ(of.p50, 25.0);
    EXPECT_DOUBLE_EQ(of.p90, 37.0);
    EXPECT_DOUBLE_EQ(of.max, 40.0);
    EXPECT_EQ(percentiles_of({}).max, 0.0);
}

TEST(TraceCollectives, WaitsAndStragglersOnOneClock) {
    std::mt19937_64 random(1);
    auto const set = schedule(8, 200, random, 0, blocking());
    auto const answer = match_collectives(set.ranks);
    ASSERT_EQ(answer.matched.size(), 200U);
    EXPECT_EQ(answer.unmatched, 0);
    std::vector<Ticks> waited(8);
    for (std::size_t k = 0; k < 200; ++k) {
        Ticks last = 0;
        std::size_t who = 0;
        for (std::size_t r = 0; r < 8; ++r) {
            if (set.begin[r][k] > last) { last = set.begin[r][k], who = r; }
        }
        for (std::size_t r = 0; r < 8; ++r) { waited[r] += last - set.begin[r][k]; }
        EXPECT_EQ(answer.matched[k].last_arriver, static_cast<std::int64_t>(who));
    }
    for (std::size_t r = 0; r < 8; ++r) {
        EXPECT_EQ(answer.waiting[r].waited, waited[r]);
        EXPECT_FALSE(answer.clocks[r].corrected);
    }
}

TEST(TraceCollectives, ClocksAreRecoveredFromEnds) {
    std::mt19937_64 random(2);
    for (Ticks const most : {Ticks{300'000}, Ticks{5'000'000'000}, Ticks{86'400'000'000'000}}) {
        auto const set = schedule(6, 150, random, most, blocking());
        auto const answer = match_collectives(set.ranks);
        ASSERT_EQ(answer.matched.size(), 150U);
        EXPECT_TRUE(joins_the_same(answer, set.ranks));
        for (std::size_t r = 1; r < 6; ++r) {
            auto const& clock = answer.clocks[r];
            EXPECT_NEAR(static_cast<double>(clock.offset), static_cast<double>(set.clock[r] - set.clock[0]), 1'500.0);
            EXPECT_EQ(clock.corrected, std::abs(clock.offset) > 25'000) << clock.offset << " " << clock.spread;
        }
        std::int64_t right = 0;
        for (std::size_t k = 0; k < 150; ++k) {
            std::size_t who = 0;
            for (std::size_t r = 1; r < 6; ++r) {
                if (set.begin[r][k] > set.begin[who][k]) { who = r; }
            }
            right += static_cast<std::int64_t>(answer.matched[k].last_arriver == static_cast<std::int64_t>(who));
        }
        EXPECT_GE(right, 130); // the rest are closer than ends tell clocks apart
    }
}

TEST(TraceCollectives, ClocksThatDriftAreNamed) {
    std::mt19937_64 random(3);
    auto set = schedule(3, 100, random, 0, blocking());
    EXPECT_EQ(match_collectives(set.ranks).clocks[2].drift, 0);
    for (CollectiveRun& run : set.ranks[2].runs.runs) { // 500 parts in a million: 100 us in a run of 200 ms
        run.begin += run.begin / 2000, run.end += run.end / 2000;
    }
    auto const clocks = match_collectives(set.ranks).clocks;
    EXPECT_EQ(clocks[1].drift, 0);
    EXPECT_NEAR(static_cast<double>(clocks[2].drift), 50'000.0, 15'000.0) << "between the halves";
    EXPECT_NEAR(clocks[2].rate, 0.0005, 0.0001);
}

TEST(TraceCollectives, ClocksThatDriftAlongALineAreCorrectedAlongIt) {
    // Two ranks, 400 collectives, 1 ms apart; rank 1 is 100 us late in each, and its clock gains 500 us in a second.
    for (bool const jumps : {false, true}) {
        std::vector<RankRuns> ranks(2);
        for (std::size_t r = 0; r < 2; ++r) {
            ranks[r].rank = static_cast<std::int64_t>(r);
            ranks[r].epoch_ns = 1'700'000'000'000'000'000;
            ranks[r].clock_is_absolute = true;
            ranks[r].runs.labels = {label_of(Collective::all_reduce, "dp", 2)};
            for (std::uint32_t k = 0; k < 400; ++k) {
                Ticks begin = 1'000'000 * Ticks{k} + (r == 1 ? 100'000 : 0), end = 1'000'000 * Ticks{k} + 500'000;
                if (r == 1 && jumps) { begin += k < 200 ? 0 : 200'000, end += k < 200 ? 0 : 200'000; }
                if (r == 1 && !jumps) { begin += begin / 2000, end += end / 2000; }
                ranks[r].runs.runs.push_back({.span = k, .begin = begin, .end = end});
            }
        }
        auto const answer = match_collectives(ranks);
        auto const& clock = answer.clocks.at(1);
        EXPECT_NE(clock.drift, 0);
        if (jumps) {
            EXPECT_EQ(clock.rate, 0.0) << "a clock that was set is no line";
            continue;
        }
        EXPECT_NEAR(clock.rate, 0.0005, 0.000005);
        EXPECT_TRUE(clock.corrected);
        EXPECT_EQ(answer.waiting.at(1).last, 400);
        EXPECT_NEAR(static_cast<double>(answer.waiting[1].kept_waiting), 400 * 100'000.0, 400 * 1'000.0);
        EXPECT_EQ(answer.waiting[0].kept_waiting, 0);
    }
}

TEST(TraceCollectives, OrderOfRanksDoesNotMatter) {
    std::mt19937_64 random(3);
    auto set = schedule(7, 60, random, 2'000'000, blocking());
    erase_runs(set.ranks[3], 0, 5);
    erase_runs(set.ranks[5], 20, 2);
    auto const one = match_collectives(set.ranks);
    std::ranges::shuffle(set.ranks, random);
    auto const other = match_collectives(set.ranks);
    ASSERT_EQ(one.matched.size(), other.matched.size());
    for (std::size_t k = 0; k < one.matched.size(); ++k) {
        EXPECT_EQ(one.matched[k].members, other.matched[k].members);
        EXPECT_EQ(one.matched[k].runs, other.matched[k].runs);
        EXPECT_EQ(one.matched[k].begin, other.matched[k].begin);
    }
    EXPECT_EQ(one.unmatched, other.unmatched);
    EXPECT_EQ(one.notes, other.notes);
}

TEST(TraceCollectives, TracesThatBeganLaterOrEndedEarlier) {
    std::mt19937_64 random(4);
    // One name and one size only: nothing but ends tells which is which.
    auto set = schedule(5, 90, random, 1'000'000'000, {label_of(Collective::all_reduce)});
    erase_runs(set.ranks[1], 0, 7);
    erase_runs(set.ranks[2], 80, 10);
    erase_runs(set.ranks[3], 85, 5);
    erase_runs(set.ranks[3], 0, 4);
    erase_runs(set.ranks[4], 0, 10);
    auto const answer = match_collectives(set.ranks);
    EXPECT_TRUE(joins_the_same(answer, set.ranks));
    EXPECT_EQ(answer.matched.size(), 90U);
    EXPECT_EQ(answer.unmatched, 0);
}

/// A rank with two equal collectives in each of the steps, at even distances.
RankRuns steps_of(std::int64_t rank, std::int64_t first, std::int64_t last, bool numbered) {
    RankRuns runs;
    runs.rank = rank;
    runs.epoch_ns = 1'700'000'000'000'000'000;
    runs.clock_is_absolute = true;
    runs.runs.labels = {label_of(Collective::all_reduce)};
    for (std::int64_t step = first; step <= last; ++step) {
        for (std::int64_t k = 0; k < 2; ++k) {
            CollectiveRun run;
            run.begin = step * 1'000'000 + k * 500'000;
            run.end = run.begin + 100'000;
            run.step = numbered ? step : -1;
            runs.runs.runs.push_back(run);
        }
    }
    return runs;
}

TEST(TraceCollectives, EqualStepsMeetByTheirNumbersElseByTheirClocks) {
    struct Case {
        std::int64_t first, last;
    };
    // rank 1 ends early, begins late, both, or has as many steps as rank 0 but others
    for (auto const [first, last] : {Case{0, 1}, Case{3, 4}, Case{1, 3}, Case{2, 6}, Case{4, 8}}) {
        for (bool const numbered : {true, false}) {
            if (!numbered && last > 4) { continue; } // nothing but numbers tells those
            auto const answer = match_collectives({steps_of(0, 0, 4, numbered), steps_of(1, first, last, numbered)});
            ASSERT_EQ(answer.clocks.size(), 2U);
            EXPECT_EQ(answer.clocks[1].offset, 0) << first << " to " << last << ", numbers: " << numbered;
            EXPECT_FALSE(answer.clocks[1].corrected);
            auto const common = std::min<std::int64_t>(last, 4) - first + 1;
            EXPECT_EQ(answer.matched.size(), static_cast<std::size_t>(2 * common));
        }
    }
}

TEST(TraceCollectives, NumbersOfStepsOutweighClocks) {
    auto late = steps_of(1, 0, 1, true);
    late.epoch_ns += 3'000'000; // by its clock its steps are those with the numbers 3 and 4
    auto const answer = match_collectives({steps_of(0, 0, 4, true), late});
    EXPECT_EQ(answer.clocks.at(1).offset, 3'000'000);
    EXPECT_TRUE(answer.clocks[1].corrected);
}

TEST(TraceCollectives, WhatTheLongestTraceLacksIsMatchedAmongTheOthers) {
    std::mt19937_64 random(9);
    auto set = schedule(4, 100, random, 1'000'000'000, blocking());
    erase_runs(set.ranks[0], 0, 10); // the longest, with 90
    for (std::size_t r = 1; r < 4; ++r) { erase_runs(set.ranks[r], 80, 20); }
    auto const answer = match_collectives(set.ranks);
    EXPECT_TRUE(joins_the_same(answer, set.ranks));
    EXPECT_EQ(answer.matched.size(), 80U);
    EXPECT_EQ(answer.unmatched, 20); // rank 0 alone has the last ones
}

TEST(TraceCollectives, RunsThatAreMissingInTheMiddle) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 20; ++round) {
        auto set = schedule(4, 120, random, 1'000'000, blocking());
        // Sizes of their own tell them apart, as layers' do.
        for (auto& rank : set.ranks) {
            for (auto& run : rank.runs.runs) { run.bytes = 1'000 + run.span; }
        }
        erase_runs(set.ranks[1], 50, 6);
        erase_runs(set.ranks[2], 10, 1);
        erase_runs(set.ranks[2], 90, 3);
        auto const answer = match_collectives(set.ranks);
        EXPECT_TRUE(joins_the_same(answer, set.ranks));
        EXPECT_EQ(answer.matched.size(), 120U);
        EXPECT_EQ(answer.unmatched, 0);
    }
}

TEST(TraceCollectives, StatedNumbersDecide) {
    std::mt19937_64 random(6);
    auto set = schedule(3, 40, random, 0, {label_of(Collective::all_reduce)});
    for (auto& rank : set.ranks) {
        for (auto& run : rank.runs.runs) { run.sequence = run.span; }
    }
    erase_runs(set.ranks[1], 5, 3);
    erase_runs(set.ranks[0], 20, 7);
    erase_runs(set.ranks[2], 20, 7); // leaves rank 1 alone there
    auto const answer = match_collectives(set.ranks);
    EXPECT_TRUE(joins_the_same(answer, set.ranks));
    EXPECT_EQ(answer.matched.size(), 33U);
    EXPECT_EQ(answer.unmatched, 7);
}

TEST(TraceCollectives, NamesThatDisagreeAreCounted) {
    std::mt19937_64 random(7);
    auto set = schedule(3, 20, random, 0, {label_of(Collective::all_reduce)});
    for (auto& rank : set.ranks) {
        for (auto& run : rank.runs.runs) { run.sequence = run.span; }
    }
    set.ranks[2].runs.labels.push_back(label_of(Collective::broadcast));
    set.ranks[2].runs.runs[4].label = 1;
    auto const answer = match_collectives(set.ranks);
    EXPECT_EQ(answer.matched.size(), 20U);
    EXPECT_EQ(answer.matched[4].members, (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(answer.unmatched, 1);
    EXPECT_EQ(answer.notes.size(), 1U);
}

TEST(TraceCollectives, GroupsOfOneNameAreToldApartByTheirEnds) {
    std::mt19937_64 random(8);
    auto one = schedule(2, 50, random, 0, {label_of(Collective::all_reduce, "tp", 2)});
    auto const other = schedule(2, 50, random, 0, {label_of(Collective::all_reduce, "tp", 2)});
    for (auto rank : other.ranks) {
        rank.rank += 2;
        one.ranks.push_back(rank);
    }
    std::swap(one.ranks[1].rank, one.ranks[2].rank);
    auto const answer = match_collectives(one.ranks);
    ASSERT_EQ(answer.matched.size(), 100U);
    for (auto const& match : answer.matched) {
        EXPECT_EQ(match.members[1] - match.members[0], 2);
        EXPECT_LT(match.end_skew, 10'000);
    }
}

TEST(TraceCollectives, SendsMeetTheirReceives) {
    auto const peer = [](std::string what) {
        auto label = label_of(Collective::point_to_point, "pp", 4);
        label.what = std::move(what);
        return label;
    };
    std::vector<RankRuns> ranks(4);
    for (std::int64_t r = 0; r < 4; ++r) { ranks[static_cast<std::size_t>(r)].rank = r; }
    auto const add = [&](std::size_t rank, std::string const& what, Ticks begin) {
        auto& runs = ranks[rank].runs;
        runs.labels.push_back(peer(what));
        runs.runs.push_back({.label = static_cast<std::uint32_t>(runs.labels.size() - 1), .begin = begin, .end = 100});
    };
    add(0, "nccl:send 0->1", 10);
    add(1, "nccl:recv 1<-0", 20);
    add(1, "nccl:send 1->2", 40);
    add(2, "nccl:recv 2<-1", 30);
    add(3, "nccl:send", 30);
    auto const answer = match_collectives(ranks);
    ASSERT_EQ(answer.matched.size(), 2U);
    EXPECT_EQ(answer.matched[0].members, (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(answer.matched[1].members, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(answer.matched[1].last_arriver, 1);
    EXPECT_EQ(answer.unmatched, 1);
}

TEST(TraceCollectives, SendsOfAPairMeetTheReceivesOfTheirDirection) {
    // Rank 1 sends only after it has received, and rank 0 awaits its answer from the start: by order of their begins the
    // two sends, and the two receives, would be one transfer. Numbers of sends are each rank's own.
    for (bool const named : {false, true}) {
        auto const direction = [&](std::string what) {
            auto label = label_of(Collective::point_to_point, "pp", named ? 4 : 2);
            label.what = std::move(what);
            if (!named) { label.group_ranks = {4, 5}; }
            return label;
        };
        std::vector<RankRuns> ranks(2);
        for (std::int64_t r = 0; r < 2; ++r) { ranks[static_cast<std::size_t>(r)].rank = 4 + r; }
        ranks[0].runs.labels = {direction(named ? "send ->5" : "send"), direction(named ? "recv <-5" : "recv")};
        ranks[1].runs.labels = {direction(named ? "recv <-4" : "recv"), direction(named ? "send ->4" : "send")};
        ranks[0].runs.runs = {{.label = 1, .lane = 2, .span = 0, .begin = 100, .end = 2050, .sequence = 8},
                              {.label = 0, .lane = 1, .span = 1, .begin = 900, .end = 950, .sequence = 9}};
        ranks[1].runs.runs = {{.label = 0, .lane = 2, .span = 0, .begin = 110, .end = 950, .sequence = 8},
                              {.label = 1, .lane = 1, .span = 1, .begin = 2000, .end = 2050, .sequence = 9}};
        auto const answer = match_collectives(ranks);
        ASSERT_EQ(answer.matched.size(), 2U) << named;
        for (auto const& one : answer.matched) { EXPECT_EQ(one.transfer, 50) << named; }
        EXPECT_EQ(answer.matched[0].last_arriver, 5) << named;
        EXPECT_EQ(answer.matched[1].last_arriver, 4) << named;
        EXPECT_EQ(answer.unmatched, 0) << named;
        if (named) { continue; }
        for (RankRuns& rank : ranks) { // both state that they send: kernels that do both
            std::erase_if(rank.runs.runs, [&](auto const& run) { return rank.runs.label_of(run).what == "recv"; });
        }
        auto const exchanges = match_collectives(ranks);
        ASSERT_EQ(exchanges.matched.size(), 1U);
        EXPECT_EQ(exchanges.unmatched, 0);
    }
}

/// Collectives on one stream of four ranks, whose groups nobody names: those of 0 and 1 and of 2 and 3 are apart by up to
/// 400 us, changing from one to the next.
std::vector<RankRuns> nameless_pairs(CollectiveLabel const& label, std::mt19937_64& random) {
    std::uniform_int_distribution<Ticks> apart(0, 400'000), late(0, 50'000), end(0, 2'000);
    std::vector<RankRuns> ranks(4);
    for (std::size_t r = 0; r < 4; ++r) {
        ranks[r].rank = static_cast<std::int64_t>(r);
        ranks[r].runs.labels = {label};
    }
    for (std::uint32_t k = 0; k < 40; ++k) {
        for (std::size_t pair = 0; pair < 2; ++pair) {
            Ticks const at = 2'000'000 * Ticks{k} + apart(random);
            for (std::size_t r = 2 * pair; r < 2 * pair + 2; ++r) {
                ranks[r].runs.runs.push_back(
                    {.span = k, .begin = at + late(random), .end = at + 150'000 + end(random), .bytes = 1 << 20});
            }
        }
    }
    return ranks;
}

TEST(TraceCollectives, RanksOfGroupsWithoutANameAreSortedByTheirEnds) {
    std::mt19937_64 random(5);
    for (std::int32_t const stated : {0, 2}) {
        auto const answer = match_collectives(nameless_pairs(label_of(Collective::all_reduce, "", stated), random));
        ASSERT_EQ(answer.matched.size(), 80U) << stated;
        for (auto const& one : answer.matched) {
            EXPECT_EQ(one.ranks, 2);
            EXPECT_EQ(one.members[1], one.members[0] + 1);
            EXPECT_EQ(one.members[0] % 2, 0);
            EXPECT_GT(one.transfer, 0);
        }
        ASSERT_EQ(answer.notes.size(), 1U);
        EXPECT_NE(answer.notes[0].find("sorted into groups of 2"), std::string::npos) << answer.notes[0];
    }
    // Two kinds of groups on one stream, by kernels of two names.
    auto both = nameless_pairs(label_of(Collective::all_gather, ""), random);
    std::uniform_int_distribution<Ticks> apart(0, 400'000);
    for (std::uint32_t k = 0; k < 40; ++k) {
        for (std::size_t first = 0; first < 2; ++first) {
            Ticks const at = 2'000'000 * Ticks{k} + 1'000'000 + apart(random);
            for (std::size_t r = first; r < 4; r += 2) {
                both[r].runs.runs.push_back(
                    {.label = 1, .span = 100 + k, .begin = at, .end = at + 150'000, .bytes = 1 << 20});
            }
        }
    }
    for (RankRuns& rank : both) {
        rank.runs.labels.push_back(label_of(Collective::all_reduce, ""));
        std::ranges::sort(rank.runs.runs, {}, &CollectiveRun::begin);
    }
    auto const two = match_collectives(both);
    ASSERT_EQ(two.matched.size(), 160U);
    for (auto const& one : two.matched) {
        bool const gathers = one.collective == Collective::all_gather;
        EXPECT_EQ(one.members[1] - one.members[0], gathers ? 1 : 2);
    }
    // Sends and receives of a pipeline: the k-th of all ranks is no collective, and nobody names partners.
    auto kernel = label_of(Collective::point_to_point, "");
    kernel.collective = {};
    kernel.name = "ncclDevKernel_SendRecv";
    auto ranks = nameless_pairs(kernel, random);
    std::uniform_int_distribution<Ticks> ends(0, 300'000);
    for (RankRuns& rank : ranks) {
        for (CollectiveRun& run : rank.runs.runs) { run.end += ends(random); }
    }
    auto const answer = match_collectives(ranks);
    EXPECT_TRUE(answer.matched.empty());
    EXPECT_EQ(answer.unmatched, 160);
}

TEST(TraceCollectives, ThreadsOfGlooTakeTurnsAsTheyAreFree) {
    // Expectation: the k-th transfer of one rank is the k-th of the other, whichever of two threads took it.
    std::vector<RankRuns> ranks(2);
    std::vector<std::vector<std::uint32_t>> const lanes{{1, 2, 1, 2, 1, 2}, {1, 2, 2, 1, 1, 2}};
    for (std::size_t r = 0; r < 2; ++r) {
        ranks[r].rank = static_cast<std::int64_t>(r);
        ranks[r].runs.labels = {label_of(Collective::all_to_all, "")};
        ranks[r].runs.labels.front().name = "gloo:all_to_all";
        for (std::uint32_t k = 0; k < 6; ++k) {
            Ticks const at = 1'000'000 * Ticks{k};
            ranks[r].runs.runs.push_back(
                {.lane = lanes[r][k], .span = k, .begin = at + (r == 0 ? 300'000 : 0), .end = at + 400'000});
        }
    }
    auto const answer = match_collectives(ranks);
    EXPECT_EQ(answer.unmatched, 0);
    ASSERT_EQ(answer.matched.size(), 6U);
    for (auto const& one : answer.matched) { EXPECT_EQ(one.start_skew, 300'000); }
    EXPECT_EQ(answer.waiting[1].waited, 6 * 300'000);
}

TEST(TraceCollectives, BusBandwidthWithAndWithoutWaiting) {
    std::vector<RankRuns> ranks(2);
    for (std::int64_t r = 0; r < 2; ++r) {
        auto& rank = ranks[static_cast<std::size_t>(r)];
        rank.rank = r;
        rank.runs.labels = {label_of(Collective::all_reduce, "0", 2)};
        rank.runs.runs = {{.begin = r * 3'000'000, .end = 4'000'000, .bytes = 1'000'000}};
    }
    auto const answer = match_collectives(ranks);
    ASSERT_EQ(answer.summaries.size(), 1U);
    auto const& summary = answer.summaries.front();
    EXPECT_DOUBLE_EQ(*summary.transfer_bandwidth, 1e6 / 1e-3);
    EXPECT_DOUBLE_EQ(*summary.bus_bandwidth, 1e6 / 2.5e-3);
    EXPECT_EQ(summary.transfer, 1'000'000);
    EXPECT_EQ(summary.seconds_of_ranks, 5'000'000);
    EXPECT_EQ(answer.waiting[0].waited, 3'000'000);
    EXPECT_EQ(answer.waiting[1].kept_waiting, 3'000'000);
}

TEST(TraceCollectives, NobodyWaitsOnceItIsDone) {
    // Expectation: the root of a broadcast sends for 10 us and goes on; the other rank comes 500 us later.
    std::vector<RankRuns> ranks(2);
    for (std::int64_t r = 0; r < 2; ++r) {
        auto& rank = ranks[static_cast<std::size_t>(r)];
        rank.rank = r;
        rank.runs.labels = {label_of(Collective::broadcast, "0", 2)};
        rank.runs.runs = {{.begin = r * 500'000, .end = r * 500'000 + 10'000, .bytes = 1'000}};
    }
    auto const answer = match_collectives(ranks);
    EXPECT_EQ(answer.waiting[0].waited, 10'000);
    EXPECT_EQ(answer.waiting[1].kept_waiting, 10'000);
}

TEST(TraceCollectives, ARankKeepsOthersWaitingOnceAtATime) {
    // Expectation: rank 1 comes at 3 and 4 ms to two collectives for which rank 0 waits from 0 and 1 ms on.
    std::vector<RankRuns> ranks(2);
    for (std::int64_t r = 0; r < 2; ++r) {
        auto& rank = ranks[static_cast<std::size_t>(r)];
        rank.rank = r;
        rank.runs.labels = {label_of(Collective::all_reduce, "0", 2)};
        rank.runs.runs = {{.begin = r * 3'000'000, .end = 5'000'000},
                          {.lane = 1, .span = 1, .begin = 1'000'000 + r * 3'000'000, .end = 6'000'000}};
    }
    auto const answer = match_collectives(ranks);
    EXPECT_EQ(answer.waiting[0].waited, 6'000'000);
    EXPECT_EQ(answer.waiting[1].kept_waiting, 4'000'000);
}

TEST(TraceCollectives, MomentsAtTheLimitsDoNotOverflow) {
    std::vector<RankRuns> ranks(3);
    for (std::size_t r = 0; r < 3; ++r) {
        ranks[r].rank = static_cast<std::int64_t>(r);
        ranks[r].epoch_ns =
            r == 1 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
        ranks[r].runs.labels = {label_of(Collective::all_reduce)};
        for (int k = 0; k < 6; ++k) {
            ranks[r].runs.runs.push_back({.begin = k, .end = std::numeric_limits<std::int64_t>::max() - k});
        }
    }
    EXPECT_EQ(match_collectives(ranks).matched.size(), 6U);
    EXPECT_TRUE(match_collectives({}).matched.empty());
    EXPECT_EQ(match_collectives({ranks[0]}).unmatched, 6);
}

} // namespace
} // namespace headroom
