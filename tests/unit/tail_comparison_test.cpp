#include "base/statistics/anderson_darling.hpp"
#include "base/statistics/normal.hpp"
#include "serving/tail/joint_cells.hpp"
#include "support/latencies.hpp"
#include "support/random.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/latency_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

using test::CounterRandom;
using test::drawn;
using test::histogram_of;
using test::lognormal;
using test::slower_tail;
using Values = std::vector<double>;

Values const asked{0.5, 0.9, 0.99, 0.999};

// ---- Anderson and Darling ----

/// Scholz and Stephens' statistic with the mean of both ranks for equal values, from its definition.
double statistic_of(Values const& first, Values const& second) {
    Values all = first;
    all.insert(all.end(), second.begin(), second.end());
    std::ranges::sort(all);
    double const n = static_cast<double>(all.size());
    double sum = 0.0;
    for (Values const* const side : {&first, &second}) {
        double of_side = 0.0;
        for (double const z : all) { // each of l equal ones adds 1 / N: together l / N
            auto const below = [z](Values const& values) {
                double count = 0.0;
                for (double const value : values) { count += value < z ? 1.0 : value == z ? 0.5 : 0.0; }
                return count;
            };
            double const equal = static_cast<double>(std::ranges::count(all, z));
            double const b = below(all), m = below(*side), size = static_cast<double>(side->size());
            double const weight = b * (n - b) - n * equal / 4.0;
            if (weight > 0.0) { of_side += (n * m - size * b) * (n * m - size * b) / weight / n; }
        }
        sum += of_side / static_cast<double>(side->size());
    }
    return (n - 1.0) / n * sum;
}

TEST(AndersonDarling, EqualsTheDefinitionOnRawSamples) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        CounterRandom random{seed};
        auto const whole = [](CounterRandom& one) { return std::ceil(8.0 * one.exponential()); };
        Values const first = drawn(20 + seed, random, whole), second = drawn(60, random, whole);
        TailDistance const found = tail_distance(joint_cells(histogram_of(first), histogram_of(second)), 1.0);
        // standardised by the deviation, which does not depend on the values: two statistics tell it
        TailDistance const none =
            tail_distance(joint_cells(histogram_of(Values(20 + seed, 1.0)), histogram_of(Values(60, 1.0))),
                          1.0); // 0: (0 - 1) / deviation
        EXPECT_NEAR((found.normalised - none.normalised) / -none.normalised, statistic_of(first, second), 1e-9);
    }
}

/// P(A^2 <= z) by Anderson and Darling's own series:
///     sqrt(2 pi) / z sum_j C(-1/2, j) (4j+1) exp(-t_j) integral over w > 0 of exp(z / (8 (w^2 + 1)) - t_j w^2),
///     t_j = (4j+1)^2 pi^2 / (8 z)
double up_to_by_series(double z) {
    constexpr int steps = 2000;
    double sum = 0.0, coefficient = 1.0;
    for (int j = 0; j < 12; ++j) {
        double const odd = 4.0 * j + 1.0, t = odd * odd * std::numbers::pi * std::numbers::pi / (8.0 * z);
        double const step = std::sqrt(45.0 / t) / steps;
        double integral = 0.0;
        for (int i = 0; i <= steps; ++i) { // the trapezoidal rule: what is cut off is below 1e-19
            double const w = i * step;
            integral += std::exp(z / (8.0 * (w * w + 1.0)) - t * w * w) * step * (i == 0 ? 0.5 : 1.0);
        }
        sum += coefficient * odd * std::exp(-t) * integral;
        coefficient *= (-0.5 - j) / (j + 1.0);
    }
    return std::sqrt(2.0 * std::numbers::pi) / z * sum;
}

TEST(AndersonDarling, Limit) {
    for (double z = 0.1; z < 6.0; z += 0.1) {
        EXPECT_NEAR(beyond_anderson_darling(z), 1.0 - up_to_by_series(z), 1e-11) << z;
    }
    // of a printed table
    EXPECT_NEAR(beyond_anderson_darling(1.933), 0.10, 1e-4);
    EXPECT_NEAR(beyond_anderson_darling(2.492), 0.05, 5e-5);
    EXPECT_EQ(beyond_anderson_darling(-1.0), 1.0);
    EXPECT_NEAR(beyond_anderson_darling(0.1), 1.0, 1e-4);
    // far out one of the squares is all: P(Z^2 / 2 > x) times prod (1 - 2 / (j (j + 1)))^-1/2 = sqrt 3
    EXPECT_NEAR(beyond_anderson_darling(100.0) / (std::sqrt(3.0) * std::erfc(10.0)), 1.0, 0.02);
}

// ---- two runs ----

TEST(TailComparison, OfARunWithItself) {
    CounterRandom random{2};
    LatencyHistogram const run = histogram_of(drawn(5000, random, lognormal));
    TailComparison const same = compare_tails(run, run, asked);
    EXPECT_EQ(same.probability, 1.0);
    EXPECT_EQ(same.larger, 0.5);
    ASSERT_EQ(same.quantiles.size(), asked.size());
    for (QuantileChange const& change : same.quantiles) {
        EXPECT_EQ(change.ratio, 1.0);
        EXPECT_EQ(change.probability, 1.0);
        EXPECT_LE(change.low, 1.0);
        EXPECT_GE(change.high, 1.0);
    }
}

TEST(TailComparison, AllOfItTwiceAsLong) {
    CounterRandom random{8};
    Values const values = drawn(20'000, random, lognormal);
    Values twice = values;
    for (double& value : twice) { value *= 2.0; }
    TailComparison const found = compare_tails(histogram_of(values), histogram_of(twice), asked);
    for (QuantileChange const& change : found.quantiles) {
        EXPECT_DOUBLE_EQ(change.ratio, 2.0); // a cell on
        EXPECT_LT(change.low, 2.0);
        EXPECT_GT(change.high, 2.0);
        EXPECT_LT(change.probability, 1e-3);
    }
    EXPECT_LT(found.probability, 1e-10);
    // P(Y > X), X and Y lognormal with ln 2 between their means: Phi(ln 2 / (0.5 sqrt 2))
    EXPECT_NEAR(found.larger, 1.0 - normal_beyond(std::log(2.0) / (0.5 * std::sqrt(2.0))), 0.01);
    TailComparison const turned = compare_tails(histogram_of(twice), histogram_of(values), asked);
    EXPECT_NEAR(turned.larger, 1.0 - found.larger, 1e-12);
    EXPECT_NEAR(turned.distance, found.distance, 1e-9 * found.distance);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        EXPECT_NEAR(turned.quantiles[i].low * found.quantiles[i].high, 1.0, 1e-12);
        EXPECT_NEAR(turned.quantiles[i].probability, found.quantiles[i].probability, 1e-9);
    }
}

TEST(TailComparison, ATailThatIsWorthMoreThanTheRestIsComparedAsSuch) {
    CounterRandom random{4};
    LatencyHistogram const first = histogram_of(drawn(20'000, random, lognormal));
    LatencyHistogram const second = histogram_of(drawn(20'000, random, slower_tail));
    SampleWorth const worth{.body = 0.05, .tail = 1.0};
    TailComparison const plain = compare_tails(first, second, asked);
    TailComparison const found = compare_tails(first, second, asked, worth, worth);
    ASSERT_EQ(found.quantiles.size(), asked.size());
    for (std::size_t i = 0; i < asked.size(); ++i) {
        bool const tail = asked[i] >= 0.99;
        EXPECT_EQ(found.quantiles[i].low == plain.quantiles[i].low, tail) << asked[i];
        EXPECT_EQ(found.quantiles[i].high == plain.quantiles[i].high, tail) << asked[i];
    }
}

TEST(TailComparison, EqualValuesAndZeros) {
    LatencyHistogram ones, twos, zeros;
    ones.record(1.0, 5000);
    twos.record(2.0, 5000);
    zeros.record(0.0, 5000);
    for (LatencyHistogram const* const run : {&ones, &zeros}) {
        TailComparison const same = compare_tails(*run, *run, asked);
        EXPECT_EQ(same.probability, 1.0);
        EXPECT_EQ(same.larger, 0.5);
        for (QuantileChange const& change : same.quantiles) {
            EXPECT_EQ(change.low, 1.0);
            EXPECT_EQ(change.high, 1.0);
            EXPECT_EQ(change.probability, 1.0);
        }
    }
    TailComparison const apart = compare_tails(ones, twos, asked);
    EXPECT_EQ(apart.larger, 1.0);
    EXPECT_LT(apart.probability, 1e-100);
    EXPECT_LT(apart.quantiles[0].probability, 1e-10);
    EXPECT_EQ(apart.quantiles[0].low, 2.0);
    TailComparison const from_nothing = compare_tails(zeros, ones, asked);
    EXPECT_EQ(from_nothing.quantiles[0].ratio, std::numeric_limits<double>::infinity());
    EXPECT_EQ(compare_tails(ones, zeros, asked).quantiles[0].ratio, 0.0);
}

TEST(TailComparison, TooFew) {
    LatencyHistogram nineteen, twenty;
    nineteen.record(1.0, 19);
    twenty.record(1.0, 20);
    EXPECT_THROW(compare_tails(nineteen, twenty, asked), InputError);
    EXPECT_THROW(compare_tails(twenty, LatencyHistogram{}, asked), InputError);
    TailComparison const found = compare_tails(twenty, twenty, asked);
    ASSERT_EQ(found.quantiles.size(), 1U); // of twenty, the median alone has an interval
    EXPECT_EQ(found.quantiles[0].q, 0.5);
}

} // namespace
} // namespace headroom
