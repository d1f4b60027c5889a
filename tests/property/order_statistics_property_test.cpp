#include "headroom/order_statistics.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom {
namespace {

constexpr double slack = 1e-12;

double share() { return *rc::gen::inRange(0, (1 << 20) + 1) / static_cast<double>(1 << 20); }

/// A count spread evenly over the powers of ten up to ten million.
Ranks any_count() { return Ranks{static_cast<int>(std::pow(1e7, share()))}; }

RC_GTEST_PROP(OrderStatisticsProperty, OneMoreNeverLowersTheMaximum, ()) {
    Ranks const count = any_count(), more{count.count() + 1};
    RC_LOG() << "k = " << count.count() << '\n';
    RC_ASSERT(expected_maximum_normal(count) < expected_maximum_normal(more));
    RC_ASSERT(expected_maximum_exponential(count) < expected_maximum_exponential(more));
}

RC_GTEST_PROP(OrderStatisticsProperty, TheMaximumIsBounded, ()) {
    // Whatever the distribution, the maximum of k is at most (k-1)/sqrt(2k-1) deviations above the mean; of a normal
    // one at most sqrt(2 ln k).
    double const k = any_count().count();
    double const maximum = expected_maximum_normal(Ranks{static_cast<int>(k)});
    RC_ASSERT(maximum <= (k - 1.0) / std::sqrt(2.0 * k - 1.0) + slack);
    RC_ASSERT(maximum <= std::sqrt(2.0 * std::log(k)) + slack);
}

RC_GTEST_PROP(OrderStatisticsProperty, ExponentialIsALogarithm, ()) {
    // ln k + 1/k < H_k <= ln k + 1
    double const k = any_count().count();
    double const waits = expected_maximum_exponential(Ranks{static_cast<int>(k)});
    RC_ASSERT(waits >= std::log(k) + 1.0 / k - slack);
    RC_ASSERT(waits <= std::log(k) + 1.0);
}

RC_GTEST_PROP(OrderStatisticsProperty, AnySlowIsAProbabilityBelowTheSum, ()) {
    double const probability = share();
    Ranks const count = any_count();
    double const any = probability_any_slow(probability, count);
    RC_ASSERT(any <= 1.0);
    RC_ASSERT(any >= probability * (1.0 - slack));
    RC_ASSERT(any <= probability * count.count() * (1.0 + slack));
    RC_ASSERT(any <= probability_any_slow(probability, Ranks{count.count() + 1}));
}

RC_GTEST_PROP(OrderStatisticsProperty, NothingIsFasterThanTheMean, ()) {
    double const spread = 0.33 * share();
    Ranks const count = any_count();
    RC_ASSERT(slowest_over_mean(spread, Ranks{1}) == 1.0);
    RC_ASSERT(slowest_over_mean(spread, count) >= 1.0);
    RC_ASSERT(slowest_over_mean(spread, count) <= slowest_over_mean(spread + 0.1, count));
}

RC_GTEST_PROP(OrderStatisticsProperty, LargestOverMeanIsBetweenOneAndTheRanks, ()) {
    auto const units = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1000)));
    std::vector<double> work(units.begin(), units.end());
    work.front() += 1.0; // not all zero
    double const imbalance = largest_over_mean(work);
    RC_ASSERT(imbalance >= 1.0);
    RC_ASSERT(imbalance <= static_cast<double>(work.size()) * (1.0 + slack));
    // The unit does not matter, nor the order.
    for (double& amount : work) { amount *= 0.37; }
    std::reverse(work.begin(), work.end());
    RC_ASSERT(std::abs(largest_over_mean(work) - imbalance) <= slack * imbalance);
}

RC_GTEST_PROP(OrderStatisticsProperty, MoreSequencesBalance, ()) {
    double const spread = 2.0 * share(), sequences = 1.0 + 1000.0 * share();
    Ranks const ranks = any_count();
    double const imbalance = expected_imbalance(spread, sequences, ranks);
    RC_ASSERT(imbalance >= 1.0);
    RC_ASSERT(imbalance <= ranks.count());
    RC_ASSERT(expected_imbalance(spread, 2.0 * sequences, ranks) <= imbalance);
    RC_ASSERT(expected_imbalance(spread, sequences, Ranks{1}) == 1.0);
}

} // namespace
} // namespace headroom
