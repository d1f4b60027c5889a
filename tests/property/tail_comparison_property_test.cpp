// Error rates of comparisons of two runs, over hundreds of pairs that are drawn.

#include "base/statistics/anderson_darling.hpp"
#include "serving/tail/joint_cells.hpp"
#include "support/latencies.hpp"

#include "headroom/serving/latency_digest.hpp"
#include "headroom/serving/latency_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
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

TEST(AndersonDarling, DeviationIsThatOfRandomOrders) {
    CounterRandom random{1};
    double sum = 0.0, squares = 0.0;
    constexpr int runs = 4000;
    for (int run = 0; run < runs; ++run) {
        auto const uniform = [](CounterRandom& one) { return one.uniform(); };
        Values const first = drawn(20, random, uniform), second = drawn(30, random, uniform);
        double const found = tail_distance(joint_cells(histogram_of(first), histogram_of(second)), 1.0).normalised;
        sum += found / runs;
        squares += found * found / runs;
    }
    EXPECT_NEAR(sum, 0.0, 3.5 / std::sqrt(runs));
    EXPECT_NEAR(std::sqrt(squares - sum * sum), 1.0, 0.08); // four standard errors: its kurtosis is near 10
}

TEST(AndersonDarling, LimitIsThatOfItsSum) {
    constexpr int runs = 20'000;
    CounterRandom random{5};
    std::vector<double> sums(runs, 0.0);
    for (double& sum : sums) {
        for (int j = 1; j <= 40; ++j) {
            double const z = normal_exceeded_by(random.uniform());
            sum += z * z / (j * (j + 1.0));
        }
        sum += 1.0 / 41.0; // of those beyond, their mean
    }
    for (double const x : {0.3, 0.5, 0.8, 1.2, 2.0, 4.0}) {
        double const seen =
            static_cast<double>(std::ranges::count_if(sums, [x](double sum) { return sum > x; })) / runs;
        double const expected = beyond_anderson_darling(x);
        EXPECT_NEAR(seen, expected, 4.0 * std::sqrt(expected * (1.0 - expected) / runs) + 1e-4) << x;
    }
}

// ---- two runs ----

TEST(TailComparison, FalseAlarmsAreAsRareAsStated) {
    constexpr int runs = 300;
    for (auto const& [left, right] : std::vector<std::pair<std::size_t, std::size_t>>{{40, 40}, {500, 3000}}) {
        for (bool const ties : {false, true}) {
            auto const draw = [ties](CounterRandom& random) {
                double const value = lognormal(random);
                return ties ? std::ceil(4.0 * value) : value;
            };
            int distances = 0, changes = 0;
            for (int run = 0; run < runs; ++run) {
                CounterRandom random{31ULL * static_cast<std::uint64_t>(run) + left};
                LatencyHistogram const first = histogram_of(drawn(left, random, draw));
                LatencyHistogram const second = histogram_of(drawn(right, random, draw));
                TailComparison const found = compare_tails(first, second, asked);
                distances += found.probability <= 0.05 ? 1 : 0;
                changes += std::ranges::any_of(found.quantiles, [](auto const& one) { return one.probability <= 0.05; })
                               ? 1
                               : 0;
            }
            double const most = 0.05 * runs + 3.5 * std::sqrt(0.05 * runs);
            EXPECT_LE(distances, most) << left << " " << ties;
            EXPECT_LE(changes, most) << left << " " << ties;
            if (!ties) { EXPECT_GE(distances, 0.05 * runs - 3.5 * std::sqrt(0.05 * runs)) << left; }
        }
    }
}

TEST(TailComparison, FindsATailThatTheMedianHides) {
    constexpr int runs = 60;
    int tails = 0, medians = 0, held = 0;
    for (int run = 0; run < runs; ++run) {
        CounterRandom random{static_cast<std::uint64_t>(run) + 77};
        LatencyHistogram const first = histogram_of(drawn(4000, random, lognormal));
        LatencyHistogram const second = histogram_of(drawn(4000, random, slower_tail));
        TailComparison const found = compare_tails(first, second, asked);
        ASSERT_EQ(found.quantiles.size(), 4U);
        tails += found.quantiles[2].probability <= 0.05 ? 1 : 0;
        medians += found.quantiles[0].probability <= 0.05 ? 1 : 0;
        held += found.quantiles[2].low <= 1.5 && found.quantiles[2].high >= 1.5 ? 1 : 0;
    }
    EXPECT_GE(tails, runs * 95 / 100);
    EXPECT_LE(medians, runs * 15 / 100);
    EXPECT_GE(held, runs * 88 / 100);
}

TEST(TailComparison, LikeSamplesSayLess) {
    constexpr int runs = 150, count = 3000;
    int plain = 0, distances = 0, changes = 0;
    for (int run = 0; run < runs; ++run) {
        CounterRandom random{static_cast<std::uint64_t>(run) + 500};
        std::vector<LatencyDigest> both(2);
        for (LatencyDigest& digest : both) {
            double state = normal_exceeded_by(random.uniform());
            for (int i = 0; i < count; ++i) {
                state = 0.8 * state + 0.6 * normal_exceeded_by(random.uniform());
                digest.add(std::exp(0.5 * state));
            }
        }
        plain += compare_tails(both[0].values(), both[1].values(), asked).probability <= 0.05 ? 1 : 0;
        TailComparison const found =
            compare_tails(both[0].values(), both[1].values(), asked, worth_of(both[0]), worth_of(both[1]));
        distances += found.probability <= 0.05 ? 1 : 0;
        changes +=
            std::ranges::any_of(found.quantiles, [](auto const& one) { return one.probability <= 0.05; }) ? 1 : 0;
    }
    EXPECT_GT(plain, runs / 5);
    EXPECT_LE(distances, 0.05 * runs + 3.5 * std::sqrt(0.05 * runs));
    EXPECT_LE(changes, 0.05 * runs + 3.5 * std::sqrt(0.05 * runs));
}

} // namespace
} // namespace headroom
