#include "support/digest_blocks.hpp"
#include "support/random.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/latency_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

using test::blocks_of;
using test::CounterRandom;

TEST(Changes, OneStep) {
    for (double const memory : {0.0, 0.6}) {
        auto const changes = find_changes(blocks_of(256, memory, {0.0, 5.0}, 4));
        ASSERT_EQ(changes.size(), 1U) << memory;
        EXPECT_NEAR(static_cast<double>(changes[0].block), 128.0, 2.0);
        EXPECT_EQ(changes[0].at, 0.5 * static_cast<double>(changes[0].block));
        EXPECT_NEAR(changes[0].before, 100.0, 0.8);
        EXPECT_NEAR(changes[0].after, 105.0, 0.8);
        EXPECT_LE(changes[0].probability, 0.01);
    }
}

TEST(Changes, LevelsThatComeBackAndStairs) {
    for (double const memory : {0.0, 0.5}) {
        for (auto const& levels :
             std::vector<std::vector<double>>{{0, 4, 0}, {0, 4, 0, 4}, {0, 4, 8, 12, 16}, {0, 0, 0, 0, 0, 0, 4, 0}}) {
            auto const changes = find_changes(blocks_of(800, memory, levels, 5));
            std::size_t expected = 0;
            for (std::size_t i = 1; i < levels.size(); ++i) {
                if (levels[i] == levels[i - 1]) { continue; }
                ASSERT_LT(expected, changes.size());
                EXPECT_NEAR(static_cast<double>(changes[expected].block),
                            800.0 * static_cast<double>(i) / static_cast<double>(levels.size()), 6.0);
                EXPECT_NEAR(changes[expected].after, 100.0 + levels[i], 0.8);
                ++expected;
            }
            EXPECT_EQ(changes.size(), expected);
        }
    }
}

TEST(Changes, ProbabilityOfPettitt) {
    std::vector<DigestBlock> blocks(40);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        // twenty different values on either side, in an order in which neighbours are not alike
        blocks[i].mean = (i < 20 ? 0.0 : 100.0) + static_cast<double>(i * 7 % 20);
        blocks[i].start = static_cast<double>(i);
    }
    auto const changes = find_changes(blocks);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].block, 20U);
    // ranks 1 ... 40 without ties: sum of squares 40 (40^2 - 1) / 12 = 5330, greatest sum 20 * 10 = 200
    double const x = 200.0 / std::sqrt(5330.0);
    EXPECT_NEAR(changes[0].probability, 2.0 * std::exp(-2.0 * x * x), 1e-12);
}

TEST(Changes, NoneWhereThereIsNothingToSee) {
    EXPECT_TRUE(find_changes({}).empty());
    for (std::size_t const count : {1U, 7U, 8U, 1000U}) {
        std::vector<DigestBlock> const equal(count, DigestBlock{.count = 1, .mean = 3.0});
        EXPECT_TRUE(find_changes(equal).empty()) << count;
    }
    std::vector<DigestBlock> few(10, DigestBlock{.count = 1, .mean = 3.0});
    for (std::size_t i = 5; i < few.size(); ++i) { few[i].mean = 30.0; }
    EXPECT_TRUE(find_changes(few).empty()); // ten blocks are not twenty
    LatencyDigest without_order;
    LatencyHistogram values;
    values.record(1.0, 1000);
    without_order.add(values);
    EXPECT_TRUE(find_changes(without_order.blocks()).empty());
    EXPECT_THROW(find_changes(few, 0.0), InputError);
    EXPECT_THROW(find_changes(few, std::numeric_limits<double>::quiet_NaN()), InputError);
}

TEST(Changes, TwoLevelsWithoutNoise) {
    std::vector<DigestBlock> blocks(100, DigestBlock{.count = 1, .mean = 3.0});
    for (std::size_t i = 70; i < blocks.size(); ++i) { blocks[i].mean = 4.0; }
    auto const changes = find_changes(blocks);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].block, 70U);
    EXPECT_EQ(changes[0].before, 3.0);
    EXPECT_EQ(changes[0].after, 4.0);
}

TEST(Changes, BlocksThatWereJoinedAreNotAnotherLevel) {
    // half of these blocks were joined from two, and half were not
    unsigned alarms = 0;
    for (unsigned run = 0; run < 40; ++run) {
        CounterRandom random{run + 60};
        LatencyDigest digest;
        for (int i = 0; i < 40'000; ++i) { digest.add(std::ceil(3.0 * random.exponential())); }
        alarms += find_changes(digest.blocks()).empty() ? 0U : 1U;
    }
    EXPECT_LE(alarms, 3U);
}

TEST(Changes, OfSamplesThroughADigest) {
    CounterRandom random{9};
    LatencyDigest digest;
    for (int i = 0; i < 200'000; ++i) { digest.add((i < 120'000 ? 1.0 : 1.2) * (0.5 + random.exponential())); }
    auto const changes = find_changes(digest.blocks());
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_NEAR(changes[0].at, 120'000.0, 2000.0);
    EXPECT_NEAR(changes[0].after / changes[0].before, 1.2, 0.02);
}

TEST(Changes, StateMeansOfSamples) {
    // a few hundred samples to a side are blocks of one and two, whose middle one is nowhere near the mean
    LatencyDigest digest;
    for (int i = 0; i < 600; ++i) { digest.add((i < 300 ? 1.0 : 2.0) * (i % 10 == 9 ? 91.0 : 1.0) + 0.001 * (i % 7)); }
    auto const changes = find_changes(digest.blocks());
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_NEAR(changes[0].at, 300.0, 4.0);
    EXPECT_NEAR(changes[0].before, 10.0, 0.3);
    EXPECT_NEAR(changes[0].after, 20.0, 0.6);
}

// ---- likeness of neighbours ----

TEST(IndependentShare, AWholeOneWhereNothingIsKnown) {
    EXPECT_EQ(worth_of(LatencyDigest{}).body, 1.0);
    EXPECT_EQ(worth_of(LatencyDigest{}).tail, 1.0);
    EXPECT_EQ(independent_share(std::span<DigestBlock const>{}, 1.0), 1.0);
    EXPECT_EQ(independent_tail_share({}), 1.0);
    std::vector<DigestBlock> const equal(100, DigestBlock{.count = 10, .mean = 3.0});
    EXPECT_EQ(independent_share(equal, 0.0), 1.0);
    EXPECT_EQ(independent_share(equal, 1.0), 1.0);
    EXPECT_EQ(independent_tail_share(equal), 1.0);
    std::vector<DigestBlock> const few(5, DigestBlock{.count = 10, .mean = 3.0});
    EXPECT_EQ(independent_share(few, 1.0), 1.0);
}

TEST(SampleWorth, OfTheTailFromTheNinetyNinthPercentileOn) {
    SampleWorth const worth{.body = 0.1, .tail = 0.4},
        together{.body = 0.9, .tail = 0.2}; // slow ones that come together
    EXPECT_EQ(worth.at(0.5), 0.1);
    EXPECT_EQ(worth.at(0.98), 0.1);
    EXPECT_EQ(worth.at(0.99), 0.4);
    EXPECT_EQ(worth.at(0.9999), 0.4);
    EXPECT_EQ(together.at(0.5), 0.2);
    EXPECT_EQ(together.at(0.99), 0.2);
}

TEST(SampleWorth, OfTwoRunsIsAMeanByTheirSamples) {
    // Expectation: 4000 samples that vary as 1000 / 0.5 + 3000 independent ones.
    SampleWorth const joined = joined_worth({.body = 0.1, .tail = 0.5}, 1000, {}, 3000);
    EXPECT_DOUBLE_EQ(joined.tail, 4000.0 / (1000.0 / 0.5 + 3000.0));
    EXPECT_EQ(joined_worth({}, 0, {.body = 0.3, .tail = 0.7}, 5).body, 0.3);
    EXPECT_EQ(joined_worth({.body = 0.3, .tail = 0.7}, 5, {.body = 0.1, .tail = 0.1}, 0).tail, 0.7);
    EXPECT_EQ(joined_worth({}, 0, {}, 0).body, 1.0);
}

} // namespace
} // namespace headroom
