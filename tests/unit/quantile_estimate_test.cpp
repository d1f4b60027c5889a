#include "base/statistics/binomial.hpp"
#include "base/statistics/normal.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/latency_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

// ---- ranks ----

/// P(X < k) of a binomial X for each k up to n + 1, by multiplying out: a second way for small n.
std::vector<double> below_multiplied_out(unsigned n, double q) {
    std::vector<double> likely{1.0};
    for (unsigned trial = 0; trial < n; ++trial) {
        likely.push_back(0.0);
        for (std::size_t hits = likely.size(); hits-- > 0;) {
            likely[hits] = likely[hits] * (1.0 - q) + (hits > 0 ? likely[hits - 1] * q : 0.0);
        }
    }
    std::vector<double> below{0.0};
    for (double const one : likely) { below.push_back(below.back() + one); }
    return below;
}

TEST(Binomial, EqualsMultipliedOut) {
    for (unsigned const n : {1U, 2U, 7U, 40U, 333U}) {
        for (double const q : {0.001, 0.1, 0.5, 0.99, 0.999}) {
            auto const expected = below_multiplied_out(n, q);
            for (unsigned k = 0; k <= n + 1; ++k) {
                EXPECT_NEAR(binomial_below(n, q, k), expected[k], 1e-12 * expected[k] + 1e-15)
                    << n << " " << q << " " << k;
            }
        }
    }
}

TEST(Binomial, OfABillionIsNearlyNormal) {
    constexpr std::uint64_t n = 1'000'000'000;
    for (double const z : {-4.0, -2.0, -0.5}) {
        auto const k = static_cast<std::uint64_t>(0.5e9 + z * std::sqrt(0.25e9));
        double const exact_z = (static_cast<double>(k) - 0.5 - 0.5e9) / std::sqrt(0.25e9);
        EXPECT_NEAR(binomial_below(n, 0.5, k) / normal_beyond(-exact_z), 1.0, 1e-6) << z;
    }
    // Poisson, where successes are rare: P(X < 1) = exp(-1)
    EXPECT_NEAR(binomial_below(n, 1e-9, 1), std::exp(-1.0), 1e-9);
}

TEST(Binomial, RanksAreTheOutermostThatMissNoMore) {
    for (std::uint64_t const n : {10U, 400U, 12345U}) {
        for (double const q : {0.01, 0.5, 0.9, 0.999}) {
            for (double const missed : {1e-9, 0.025, 0.4}) {
                std::uint64_t const rank = rank_below_quantile(n, q, missed);
                EXPECT_TRUE(rank == 0 || binomial_below(n, q, rank) <= missed * (1.0 + 1e-9));
                EXPECT_GT(binomial_below(n, q, rank + 1), missed * (1.0 - 1e-9)) << n << " " << q << " " << missed;
            }
        }
    }
}

// ---- intervals ----

TEST(QuantileInterval, RanksOfATextbookTable) {
    // n = 100, median, 95 %: the 40th and the 61st, which cover 96.48 % (Binomial(100, 1/2) from 40 to 60).
    LatencyHistogram hundred;
    for (int i = 1; i <= 100; ++i) { hundred.record(LatencyHistogram::cell_of(i).low); }
    auto const found = quantile_estimate(hundred, 0.5);
    EXPECT_EQ(found.value, 0.5 * (hundred.ranked(50) + hundred.ranked(51)));
    EXPECT_NEAR(*found.low, 40.0, 40.0 / 512.0);
    EXPECT_NEAR(*found.high, 61.0, 61.0 / 512.0);
    EXPECT_NEAR(found.coverage, 0.9648, 5e-5);
    EXPECT_EQ(found.samples_beyond, 50U);
    EXPECT_EQ(quantile_estimate(hundred, 0.99).samples_beyond, 1U);
}

TEST(QuantileInterval, OneSampleAndZeros) {
    LatencyHistogram one;
    one.record(0.25);
    auto const found = quantile_estimate(one, 0.5);
    EXPECT_EQ(found.value, 0.25);
    EXPECT_FALSE(found.low);
    EXPECT_FALSE(found.high);
    EXPECT_EQ(found.coverage, 0.0);
    LatencyHistogram zeros;
    zeros.record(0.0, 1000);
    auto const none = quantile_estimate(zeros, 0.9);
    EXPECT_EQ(none.value, 0.0);
    EXPECT_EQ(*none.low, 0.0);
    EXPECT_EQ(*none.high, 0.0);
}

TEST(QuantileInterval, AnEndMissesWhereTooFewLieBeyond) {
    LatencyHistogram hundred;
    for (int i = 1; i <= 100; ++i) { hundred.record(i); }
    auto const found = quantile_estimate(hundred, 0.99);
    EXPECT_TRUE(found.low);
    EXPECT_FALSE(found.high); // 0.99^100 = 0.37: the greatest is too often below
    EXPECT_EQ(found.coverage, 0.0);
}

TEST(QuantileInterval, SamplesNeeded) {
    EXPECT_EQ(samples_for_quantile(0.5), 6U);  // 2^-5 > 0.025 >= 2^-6
    EXPECT_EQ(samples_for_quantile(0.9), 36U); // ln 0.025 / ln 0.9 = 35.01
    EXPECT_EQ(samples_for_quantile(0.99), 368U);
    EXPECT_EQ(samples_for_quantile(0.01), 368U);
    EXPECT_EQ(samples_for_quantile(0.999), 3688U);
    EXPECT_EQ(samples_for_quantile(0.99, 0.99), 528U); // ln 0.005 / ln 0.99 = 527.2
}

TEST(QuantileInterval, FewerIndependentSamplesMakeItWider) {
    LatencyHistogram many;
    for (int i = 1; i <= 10'000; ++i) { many.record(i); }
    auto const all = quantile_estimate(many, 0.5), few = quantile_estimate(many, 0.5, 0.95, 0.01);
    EXPECT_NEAR((*few.high - *few.low) / (*all.high - *all.low), 10.0, 1.5);
    EXPECT_LE(*few.low, 4000.0); // the 40th of 100
    EXPECT_GE(*few.high, 6000.0);
}

TEST(QuantileInterval, Refusals) {
    LatencyHistogram one;
    one.record(1.0);
    auto const fault_of = [](auto call) {
        try {
            call();
        } catch (InputError const& error) { return static_cast<int>(error.fault()); }
        return -1;
    };
    auto const usage = static_cast<int>(Fault::usage);
    EXPECT_EQ(fault_of([] { quantile_estimate(LatencyHistogram{}, 0.5); }), static_cast<int>(Fault::insufficient));
    for (double const share : {0.0, 1.0, -1.0, std::nan("")}) {
        EXPECT_EQ(fault_of([&] { quantile_estimate(one, share); }), usage);
        EXPECT_EQ(fault_of([&] { quantile_estimate(one, 0.5, share); }), usage);
        EXPECT_EQ(fault_of([&] { samples_for_quantile(share); }), usage);
    }
    EXPECT_EQ(fault_of([&] { quantile_estimate(one, 0.5, 0.95, 0.0); }), usage);
}

} // namespace
} // namespace headroom
