// The expected maximum by formula, and by drawing: the same number within what drawing leaves open.

#include "support/random.hpp"

#include "headroom/order_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace headroom {
namespace {

using test::CounterRandom;

double normal(CounterRandom& random) {
    double const radius = std::sqrt(2.0 * random.exponential());
    return radius * std::cos(2.0 * std::numbers::pi * random.uniform());
}

/// Mean over `rounds` of the largest of k draws.
template <class Draw> double mean_maximum(int k, int rounds, Draw const& draw) {
    double sum = 0.0;
    for (int round = 0; round < rounds; ++round) {
        double largest = draw();
        for (int i = 1; i < k; ++i) { largest = std::max(largest, draw()); }
        sum += largest;
    }
    return sum / rounds;
}

TEST(OrderStatisticsSimulation, MaximaOfNormalAndExponentialNumbers) {
    for (int const k : {2, 8, 64, 512}) {
        CounterRandom random{static_cast<std::uint64_t>(k)};
        int const rounds = 2000000 / k;
        // One draw of a maximum deviates by less than 0.83 (normal) and 1.29 (exponential): four errors of the mean.
        double const error = 4.0 / std::sqrt(rounds);
        EXPECT_NEAR(mean_maximum(k, rounds, [&] { return normal(random); }), expected_maximum_normal(Ranks{k}),
                    0.83 * error)
            << k;
        EXPECT_NEAR(mean_maximum(k, rounds, [&] { return random.exponential(); }),
                    expected_maximum_exponential(Ranks{k}), 1.29 * error)
            << k;
    }
}

TEST(OrderStatisticsSimulation, ProbabilityAnySlow) {
    CounterRandom random{7};
    int const rounds = 20000;
    int slow = 0;
    for (int round = 0; round < rounds; ++round) {
        bool any = false;
        for (int rank = 0; rank < 100; ++rank) { any = random.uniform() < 0.01 || any; }
        slow += any ? 1 : 0;
    }
    EXPECT_NEAR(slow / static_cast<double>(rounds), probability_any_slow(0.01, Ranks{100}), 0.014);
}

TEST(OrderStatisticsSimulation, RanksThatSumSequences) {
    // Exponential lengths have spread 1; the sum of 32 is nearly normal, with a longer tail above than below.
    CounterRandom random{11};
    auto const rank = [&] {
        double sum = 0.0;
        for (int i = 0; i < 32; ++i) { sum += random.exponential(); }
        return sum / 32.0;
    };
    EXPECT_NEAR(mean_maximum(64, 1500, rank) / expected_imbalance(1.0, 32, Ranks{64}), 1.0, 0.05);
}

} // namespace
} // namespace headroom
