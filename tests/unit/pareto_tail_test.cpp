#include "support/latencies.hpp"
#include "support/pareto_samples.hpp"
#include "support/random.hpp"
#include "tail_fit_cells.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/tail_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

namespace headroom::fit {

using namespace headroom::serving;

namespace {

using test::CounterRandom;

TEST(FitPareto, StatesTheErrorsOfTheTextbook) {
    // Expectation: (1 + shape) / sqrt(n) of the shape, sqrt(2 (1 + shape) / n) of the logarithm of the scale;
    // a little more, since cells say less than the samples.
    for (double const shape : {0.0, 0.2, 0.6}) {
        constexpr double n = 200'000;
        auto const fit = fit_pareto(cells_from_threshold(excesses(shape, static_cast<int>(n), 4)));
        ASSERT_TRUE(fit.has_value());
        EXPECT_NEAR(std::sqrt(fit->covariance.bb * n), 1.0 + shape, 0.04);
        EXPECT_NEAR(std::sqrt(fit->covariance.aa * n), std::sqrt(2.0 * (1.0 + shape)), 0.04);
        EXPECT_NEAR(fit->shape, shape, 4.0 * std::sqrt(fit->covariance.bb));
    }
}

TEST(AndersonDarling, IsItsDefinition) {
    // Expectation: -n - sum (2i - 1) / n (ln u_i + ln(1 - u_(n+1-i))) of the samples themselves; within what the middle
    // of a cell is off.
    for (double const shape : {-0.3, 0.1, 0.8}) {
        TailDistribution const tail{.family = TailFamily::pareto_tail, .a = 40.0, .b = shape, .threshold = 8.0};
        for (int const n : {50, 2000}) {
            CounterRandom random{99};
            LatencyHistogram samples;
            std::vector<double> shares;
            for (int i = 0; i < n; ++i) {
                double const p = std::pow(random.uniform(), 1.1); // not quite of that tail
                samples.record(tail.quantile_above(p));
                shares.push_back(1.0 - p);
            }
            std::ranges::sort(shares);
            double sum = 0.0;
            for (int i = 1; i <= n; ++i) {
                auto const at = static_cast<std::size_t>(i - 1), back = static_cast<std::size_t>(n - i);
                sum += (2.0 * i - 1.0) / n * (std::log(shares[at]) + std::log1p(-shares[back]));
            }
            double const found =
                anderson_darling(cells_from_threshold(samples), {.scale = 40.0, .shape = shape, .covariance = {}});
            EXPECT_NEAR(found, -n - sum, 0.01 * (-n - sum) + 0.01) << shape << ' ' << n;
        }
    }
}

TEST(AndersonDarling, ProbabilityFallsFromOneToZero) {
    EXPECT_NEAR(anderson_darling_probability(0.0, 0.2), 1.0, 1e-12);
    EXPECT_LT(anderson_darling_probability(10.0, 0.2), 1e-6);
    for (double x = 0.01; x < 5.0; x += 0.01) { // falls without a jump
        double const here = anderson_darling_probability(x, 0.1), next = anderson_darling_probability(x + 0.01, 0.1);
        EXPECT_LT(next, here);
        EXPECT_GT(next, here - 0.06);
    }
}

TEST(FitParetoTail, KnowsTailsByTheirShape) {
    // Expectation: x = u^(-1/2.5) falls with shape 0.4 and scale 0.4 u beyond any u; exponential: 0; uniform: -1; with a
    // density that falls to zero in a straight line: -1/2.
    struct Known {
        char const* name;
        std::function<double(double)> quantile_above;
        double shape;
    };
    std::vector<Known> const tails{
        {"pareto", [](double p) { return std::pow(p, -0.4); }, 0.4},
        {"exponential", [](double p) { return 1.0 - std::log(p); }, 0.0},
        {"triangle", [](double p) { return 2.0 - std::sqrt(p); }, -0.5},
        {"uniform", [](double p) { return 2.0 - p; }, -1.0},
    };
    for (Known const& known : tails) {
        LatencyHistogram const samples = drawn(known.quantile_above, 50'000, 12);
        auto const fit = fit_pareto_tail(samples);
        ASSERT_TRUE(fit.has_value()) << known.name;
        TailDistribution const& tail = fit->distribution;
        EXPECT_EQ(tail.family, TailFamily::pareto_tail);
        EXPECT_NEAR(tail.b, known.shape, 4.0 * fit->b_error) << known.name;
        EXPECT_LT(fit->b_error, 0.1) << known.name;
        EXPECT_NEAR(tail.share_beyond, samples.share_above(tail.threshold), 1e-12) << known.name;
        EXPECT_EQ(tail.threshold, LatencyHistogram::cell_of(tail.threshold).low) << known.name;
        // Twice as far out as the samples reach.
        double const beyond = known.quantile_above(1e-5);
        EXPECT_NEAR(tail.quantile_above(1e-5), beyond, 0.25 * beyond) << known.name;
        EXPECT_LT(fit->tail_error, 0.15) << known.name;
        EXPECT_LT(fit->distance, 1.36 / std::sqrt(50'000.0 * tail.share_beyond)) << known.name;
    }
}

TEST(FitParetoTail, BeginsBeyondWhatIsOfAnotherKind) {
    // Expectation: one in a hundred takes 100 or more, with an exponential tail: the threshold is there, not in the gap.
    auto const quantile_above = [](double p) { return p < 0.01 ? 100.0 - 20.0 * std::log(p / 0.01) : 2.0 - p; };
    LatencyHistogram const samples = drawn(quantile_above, 100'000, 3);
    auto const fit = fit_pareto_tail(samples);
    ASSERT_TRUE(fit.has_value());
    EXPECT_GE(fit->distribution.threshold, 99.9);
    EXPECT_LE(fit->distribution.share_beyond, 0.011);
    EXPECT_NEAR(fit->distribution.b, 0.0, 4.0 * fit->b_error);
}

TEST(FitParetoTail, SaysNothingWhereNothingFits) {
    LatencyHistogram two, few, steps, equal;
    two.record(1.0, 5000);
    two.record(2.0, 5000);
    for (int i = 1; i <= 60; ++i) { few.record(i); }
    CounterRandom random{6};
    for (int i = 0; i < 100'000; ++i) { steps.record(std::floor(3.0 * random.exponential()) + 1.0); }
    equal.record(0.3, 1000);
    EXPECT_FALSE(fit_pareto_tail(two).has_value());
    EXPECT_FALSE(fit_pareto_tail(few).has_value()) << "half of 60 is fewer than 50";
    EXPECT_FALSE(fit_pareto_tail(steps).has_value()) << "a clock of whole numbers";
    EXPECT_FALSE(fit_pareto_tail(equal).has_value());
    EXPECT_THROW(fit_pareto_tail(LatencyHistogram{}), InputError);
}

} // namespace
} // namespace headroom::fit
