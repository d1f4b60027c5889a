// The expected greatest of many, by integration and by drawing.

#include "support/random.hpp"
#include "support/tails.hpp"

#include "headroom/serving/fan_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace headroom {

using namespace headroom::serving;

namespace {

using test::CounterRandom;
using test::examples;

TEST(ExpectedMaximum, IsTheIntegralOfWhatIsBeyond) {
    // Expectation: least + integral of 1 - F^K, by Simpson's rule on a fine grid, in x as the definition has it.
    for (TailDistribution const& tail : examples()) {
        if (tail.family == TailFamily::pareto_tail && tail.b > 0.0) { continue; } // its tail outlasts any grid
        for (int k : {1, 3, 100, 1'000'000}) {
            double const end = tail.quantile_above(1e-24 / k);
            constexpr int intervals = 400'000;
            double const width = std::sqrt(end) / intervals; // x = s^2: fine where x is small
            double sum = 0.0;
            for (int i = 0; i <= intervals; ++i) {
                double const s = i * width;
                double const beyond = -std::expm1(k * std::log1p(-tail.share_above(s * s))) * 2.0 * s;
                sum += beyond * (i == 0 || i == intervals ? 1.0 : i % 2 == 1 ? 4.0 : 2.0);
            }
            double const integral = sum * width / 3.0;
            EXPECT_NEAR(expected_maximum(tail, Ranks{k}) / integral, 1.0, 3e-6) << name_of(tail.family) << ' ' << k;
        }
    }
}

TEST(ExpectedMaximum, IsWhatDrawingGives) {
    // Expectation: the mean of 4000 maxima of 64, within four of its standard errors.
    CounterRandom random{5};
    for (TailDistribution const& tail : examples()) {
        double sum = 0.0, squares = 0.0;
        constexpr int runs = 4000, k = 64;
        for (int run = 0; run < runs; ++run) {
            double greatest = 0.0;
            for (int i = 0; i < k; ++i) { greatest = std::max(greatest, tail.quantile_above(random.uniform())); }
            sum += greatest;
            squares += greatest * greatest;
        }
        double const mean = sum / runs, error = std::sqrt((squares / runs - mean * mean) / runs);
        EXPECT_NEAR(expected_maximum(tail, Ranks{k}), mean, 4.0 * error) << name_of(tail.family);
    }
}

} // namespace
} // namespace headroom
