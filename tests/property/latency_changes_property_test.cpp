// Share of changes found where there are none, and the worth of samples with memory, over many sets that are drawn.

#include "support/digest_blocks.hpp"
#include "support/random.hpp"

#include "headroom/serving/latency_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace headroom {

using namespace headroom::serving;

namespace {

using test::blocks_of;
using test::CounterRandom;
using test::normal;

TEST(Changes, FalseAlarmsAreAsRareAsStated) {
    constexpr unsigned runs = 300;
    constexpr double significance = 0.02;
    for (double const memory : {0.0, 0.5, 0.9}) {
        unsigned alarms = 0;
        for (unsigned run = 0; run < runs; ++run) {
            alarms += find_changes(blocks_of(256, memory, {0.0}, 10'007ULL * run), significance).empty() ? 0U : 1U;
        }
        // 3.5 standard errors above what is stated
        EXPECT_LE(alarms, 0.02 * runs + 3.5 * std::sqrt(0.02 * runs)) << memory;
    }
}

struct Shares {
    double all = 0.0, tail = 0.0;
};

/// Mean over a few runs of samples with memory.
Shares shares_of(double memory, int count) {
    constexpr int runs = 8;
    Shares shares;
    for (int run = 0; run < runs; ++run) {
        CounterRandom random{977ULL * static_cast<std::uint64_t>(run) + 1};
        LatencyDigest digest;
        double state = normal(random);
        for (int i = 0; i < count; ++i) {
            state = memory * state + std::sqrt(1.0 - memory * memory) * normal(random);
            digest.add(20.0 + state);
        }
        SampleWorth const worth = worth_of(digest);
        EXPECT_EQ(worth.body, independent_share(digest.blocks(), digest.values().variance()));
        EXPECT_EQ(worth.tail, independent_tail_share(digest.blocks()));
        shares.all += worth.body / runs;
        shares.tail += worth.tail / runs;
    }
    return shares;
}

TEST(IndependentShare, IsThatOfAutoregression) {
    for (int const count : {900, 20'000}) {
        EXPECT_GT(shares_of(0.0, count).all, 0.85);
        EXPECT_GT(shares_of(0.0, count).tail, 0.7);
        for (double const memory : {0.5, 0.9}) {
            double const expected = (1.0 - memory) / (1.0 + memory);
            EXPECT_NEAR(shares_of(memory, count).all / expected, 1.0, 0.25) << memory << " " << count;
            EXPECT_GT(shares_of(memory, count).tail, expected); // the farther out, the less alike
            EXPECT_LT(shares_of(memory, count).tail, 0.8);
        }
    }
}

TEST(SampleWorth, OfTwoRunsIsThatOfTheMeanOfBoth) {
    constexpr double memory = 0.9, of_alike = (1.0 - memory) / (1.0 + memory);
    constexpr int alike = 1000, apart = 3000, runs = 1500;
    CounterRandom random{5};
    double squares = 0.0; // of means of both, whose samples vary by 1 about 0
    for (int run = 0; run < runs; ++run) {
        double sum = 0.0, state = normal(random);
        for (int i = 0; i < alike; ++i) {
            state = memory * state + std::sqrt(1.0 - memory * memory) * normal(random);
            sum += state;
        }
        for (int i = 0; i < apart; ++i) { sum += normal(random); }
        squares += sum / (alike + apart) * (sum / (alike + apart)) / runs;
    }
    SampleWorth const joined = joined_worth({.body = of_alike, .tail = 0.5}, alike, {}, apart);
    // a variance from so many runs is off by sqrt(2 / runs) = 3.7 %
    EXPECT_NEAR(joined.body * squares * (alike + apart), 1.0, 0.13);
}

} // namespace
} // namespace headroom
