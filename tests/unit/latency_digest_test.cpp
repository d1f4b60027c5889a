#include "support/latencies.hpp"

#include "headroom/counter_random.hpp"
#include "headroom/error.hpp"
#include "headroom/sample_statistics.hpp"
#include "headroom/serving/fan_out.hpp"
#include "headroom/serving/latency_digest.hpp"
#include "headroom/serving/latency_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

std::vector<double> skewed(std::size_t count) {
    std::vector<double> values;
    CounterRandom random{7};
    for (std::size_t i = 0; i < count; ++i) { values.push_back(-1e-3 * std::log1p(-random.uniform())); }
    return values;
}

TEST(LatencyDigest, IsEmptyAtFirst) {
    LatencyDigest const digest;
    EXPECT_TRUE(digest.values().empty());
    EXPECT_TRUE(digest.blocks().empty());
    EXPECT_FALSE(digest.has_times());
    EXPECT_EQ(digest.duration(), 0.0);
}

TEST(LatencyDigest, KeepsSinglesWhileTheyAreFew) {
    LatencyDigest digest;
    for (double const value : {3.0, 1.0, 2.0}) { digest.add(value); }
    ASSERT_EQ(digest.blocks().size(), 3U);
    EXPECT_EQ(digest.blocks()[1].count, 1U);
    EXPECT_EQ(digest.blocks()[1].start, 1.0); // numbers stand for times
    EXPECT_NEAR(digest.blocks()[1].median, 1.0, 1e-3);
    EXPECT_EQ(digest.blocks()[1].most, 1.0);
}

// Expectation: what is known of time does not depend on how long the samples ran: the median of a block is that of its
// samples whether it was counted at once or joined from ones, to 2 % of ranks.
TEST(LatencyDigest, MediansOfJoinedBlocksAreThoseOfTheirSamples) {
    auto const values = skewed(200'000);
    LatencyDigest digest;
    digest.add(values);
    std::size_t at = 0;
    for (DigestBlock const& block : digest.blocks()) {
        std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(at),
                                 values.begin() + static_cast<std::ptrdiff_t>(at + block.count));
        std::ranges::sort(part);
        auto const below = std::ranges::lower_bound(part, block.median) - part.begin();
        double const rank = static_cast<double>(below) / static_cast<double>(part.size());
        if (part.size() > 1) { EXPECT_NEAR(rank, 0.5, 0.02); }
        EXPECT_EQ(block.most, part.back());
        at += block.count;
    }
    EXPECT_EQ(at, values.size());
}

// Expectation: of samples that do not change, one in a hundred is above the 99th percentile of those before, in the
// first blocks as in the last.
TEST(LatencyDigest, CountsWhatExceedsThePercentileSoFar) {
    auto const values = skewed(400'000);
    LatencyDigest digest;
    digest.add(values);
    std::uint64_t first = 0, second = 0;
    auto const& blocks = digest.blocks();
    for (std::size_t i = 1; i < blocks.size(); ++i) { (i < blocks.size() / 2 ? first : second) += blocks[i].above; }
    EXPECT_NEAR(static_cast<double>(first), 2000.0, 250.0);
    EXPECT_NEAR(static_cast<double>(second), 2000.0, 250.0);
}

TEST(LatencyDigest, QuantizedValuesKeepTheirMedian) {
    LatencyDigest digest;
    for (int i = 0; i < 100'000; ++i) { digest.add(i % 3 == 0 ? 0.004 : 0.003); }
    for (DigestBlock const& block : digest.blocks()) { EXPECT_NEAR(block.median, 0.003, 0.003e-3 + 5e-7); }
}

TEST(LatencyDigest, CountsTimesThatGoBackwards) {
    LatencyDigest digest;
    for (double const sent : {10.0, 11.0, 10.5, 12.0, 11.9}) { digest.add(0.1, sent); }
    EXPECT_TRUE(digest.has_times());
    EXPECT_EQ(digest.times_backwards(), 2U);
    EXPECT_EQ(digest.first_backwards(), 2U);
    EXPECT_EQ(digest.duration(), 2.0);
    EXPECT_EQ(digest.gaps().count(), 2U); // 1 and 1.5
    EXPECT_EQ(digest.values().count(), 5U);
    EXPECT_EQ(digest.blocks()[2].start, 10.5);
}

// Expectation: a closed loop sends as soon as the answer is there; an open one does not look at it.
TEST(LatencyDigest, TellsAClosedLoopFromAnOpenOne) {
    LatencyDigest closed, open;
    double now = 0.0, tick = 0.0;
    for (double const value : skewed(1000)) {
        closed.add(value, now);
        open.add(value, tick);
        now += value * 1.01;
        tick += 5e-3;
    }
    EXPECT_EQ(closed.sent_after_answer(), 999U);
    EXPECT_LT(open.sent_after_answer(), 20U);
}

TEST(LatencyDigest, TakesSamplesWithoutATimeAmongOthers) {
    double const unknown = std::numeric_limits<double>::quiet_NaN();
    LatencyDigest digest;
    std::vector<double> const values{1.0, 2.0, 3.0}, sent{5.0, unknown, 7.0};
    digest.add(values, sent);
    EXPECT_EQ(digest.duration(), 2.0);
    EXPECT_TRUE(digest.gaps().empty());
    EXPECT_EQ(digest.blocks()[1].start, 5.0);
}

TEST(LatencyDigest, HistogramsHaveNoOrder) {
    LatencyHistogram values;
    values.record(1.0, 1'000'000'000'000);
    LatencyDigest digest;
    digest.add(2.0);
    digest.add(values);
    EXPECT_EQ(digest.values().count(), 1'000'000'000'001U);
    EXPECT_TRUE(digest.blocks().empty());
}

TEST(LatencyDigest, RefusesWhatIsNoLatency) {
    LatencyDigest digest;
    EXPECT_THROW(digest.add(-1.0), InputError);
    EXPECT_THROW(digest.add(1.0, std::numeric_limits<double>::infinity()), InputError);
    std::vector<double> const two{1.0, 2.0}, one{1.0};
    EXPECT_THROW(digest.add(two, one), InputError);
    EXPECT_TRUE(digest.values().empty());
    digest.add(-0.0);
    EXPECT_EQ(digest.values().most(), 0.0);
}

TEST(LatencyDigest, MemoryDoesNotGrow) {
    LatencyDigest digest;
    auto const values = skewed(50'000);
    digest.add(values);
    static_cast<void>(digest.blocks());
    auto const before = digest.memory_bytes();
    for (int i = 0; i < 20; ++i) { digest.add(values); }
    static_cast<void>(digest.blocks());
    EXPECT_LE(digest.memory_bytes(), before + 64'000);
    EXPECT_LT(digest.memory_bytes(), 2'000'000U);
}

TEST(LatencyHistogram, TheMedianOfAnEvenNumberIsTheMeanOfTheTwoInTheMiddle) {
    std::vector<double> const values = test::on_cells({1.0, 2.0, 3.0, 10.0});
    LatencyHistogram const samples = test::histogram_of(values);
    EXPECT_EQ(samples.median(), summarize(values).median) << "as a summary of repeats has it";
    EXPECT_EQ(quantile_estimate(samples, 0.5).value, 0.5 * (values[1] + values[2]));
    EXPECT_EQ(samples.quantile(0.5), values[1]) << "a quantile is a value";
    LatencyHistogram buckets;
    buckets.record(values[0], 2);
    buckets.record(values[3], 2);
    EXPECT_EQ(buckets.median(), values[0]) << "as the report of such buckets states it";
    EXPECT_EQ(fan_out(test::histogram_of(values), Ranks{1}, 5.0).p50, 0.5 * (values[1] + values[2]));
}

} // namespace
} // namespace headroom
