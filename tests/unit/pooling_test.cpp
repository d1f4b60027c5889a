#include "headroom/error.hpp"
#include "headroom/fit/pooling.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace headroom::fit {
namespace {

constexpr double z = 1.6448536269514722;

/// A source whose 90 % interval is that of a relative error.
Fitted source(double value, double error) { return {value, value * std::exp(-z * error), value * std::exp(z * error)}; }

TEST(Pool, OneSourceStaysAsItIs) {
    std::array const one{Fitted{2.0, 1.5, 3.0}};
    Pooled const pooled = pool(one);
    EXPECT_EQ(pooled.value.value, 2.0);
    EXPECT_EQ(pooled.value.low, 1.5);
    EXPECT_EQ(pooled.value.high, 3.0);
    EXPECT_EQ(pooled.weights, std::vector{1.0});
}

TEST(Pool, AgreeingSourcesNarrowAsTheirNumberGrows) {
    std::vector<Fitted> const four(4, source(0.8, 0.02));
    Pooled const pooled = pool(four);
    EXPECT_NEAR(pooled.value.value, 0.8, 1e-12);
    // Expectation: four equal ones halve the error.
    EXPECT_NEAR(std::log(pooled.value.high / pooled.value.value), z * 0.02 / 2.0, 1e-12);
    EXPECT_EQ(pooled.between, 0.0);
    EXPECT_EQ(pooled.heterogeneity, 0.0);
    EXPECT_EQ(pooled.ratio, 1.0);
}

TEST(Pool, TheSurerSourceWeighsMore) {
    std::array const two{source(1.0, 0.01), source(1.01, 0.02)};
    Pooled const pooled = pool(two);
    // Expectation: they agree within their errors, so weights are inverse variances, 4 to 1.
    EXPECT_NEAR(pooled.weights[0], 0.8, 1e-12);
    EXPECT_NEAR(pooled.weights[1], 0.2, 1e-12);
    EXPECT_NEAR(std::log(pooled.value.value), 0.2 * std::log(1.01), 1e-12);
}

TEST(Pool, DisagreementIsCountedByHand) {
    // ln values 0 and 0.5, errors of 0.1: S1 = 200, S2 = 20000, Q = 2 x 0.25^2 x 100 = 12.5,
    // t^2 = 11.5 / (200 - 100) = 0.115, I^2 = 11.5 / 12.5.
    std::array const two{source(1.0, 0.1), source(std::exp(0.5), 0.1)};
    Pooled const pooled = pool(two);
    EXPECT_NEAR(pooled.between, std::sqrt(0.115), 1e-9);
    EXPECT_NEAR(pooled.heterogeneity, 0.92, 1e-9);
    EXPECT_NEAR(pooled.value.value, std::exp(0.25), 1e-9);
    EXPECT_NEAR(pooled.ratio, std::exp(0.5), 1e-9);
    // The interval holds both, and more: t of one degree of freedom is 6.31, the variance of the mean 0.125 / 2.
    EXPECT_NEAR(std::log(pooled.value.high) - 0.25, 6.313752 * std::sqrt(0.0625), 1e-5);
}

TEST(Pool, IntervalsHoldTheTruthInNineOfTen) {
    // Sources with errors of their own and a spread between them, none of which the rule is given.
    std::mt19937_64 random{20261122};
    std::normal_distribution<double> normal;
    for (double const between : {0.0, 0.05, 0.2}) {
        for (std::size_t const count : {2U, 3U, 5U, 10U}) {
            constexpr int trials = 2000;
            int held = 0;
            for (int trial = 0; trial < trials; ++trial) {
                std::vector<Fitted> sources;
                for (std::size_t i = 0; i < count; ++i) {
                    double const own = i % 2 == 0 ? 0.02 : 0.05;
                    sources.push_back(source(std::exp(between * normal(random) + own * normal(random)), own));
                }
                auto const value = pool(sources).value;
                held += value.low <= 1.0 && 1.0 <= value.high ? 1 : 0;
            }
            double const share = static_cast<double>(held) / trials;
            // Two sources hardly show how far sources differ: 77 % in the worst case, as documented.
            EXPECT_GT(share, count > 2 || between == 0.0 ? 0.85 : 0.75) << count << " sources, spread " << between;
            if (between == 0.0) { EXPECT_LT(share, 0.985) << "not wide for nothing, " << count; }
        }
    }
}

TEST(Pool, RefusesWhatHasNoLogarithm) {
    std::array const zero{Fitted{1.0, 0.0, 2.0}};
    std::array const outside{Fitted{3.0, 1.0, 2.0}, Fitted{1.0, 1.0, 1.0}};
    EXPECT_THROW(pool(zero), InputError);
    EXPECT_THROW(pool(outside), InputError);
    EXPECT_THROW(pool({}), InputError);
}

} // namespace
} // namespace headroom::fit
