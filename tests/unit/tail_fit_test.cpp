#include "support/latencies.hpp"
#include "support/processor_time.hpp"
#include "support/random.hpp"
#include "support/tails.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/tail_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace headroom::fit {

using namespace headroom::serving;

namespace {

using test::CounterRandom;

constexpr TailDistribution normal{.family = TailFamily::normal, .a = 10.0, .b = 1.0};
constexpr TailDistribution lognormal{.family = TailFamily::lognormal, .a = -3.0, .b = 0.8};
constexpr TailDistribution weibull{.family = TailFamily::weibull, .a = 0.02, .b = 1.7};
constexpr TailDistribution exponential{.family = TailFamily::exponential, .a = 0.5, .b = 0.1};

LatencyHistogram drawn(TailDistribution const& from, int count, std::uint64_t seed) {
    CounterRandom random{seed};
    LatencyHistogram samples;
    for (int i = 0; i < count; ++i) { samples.record(from.quantile_above(random.uniform())); }
    return samples;
}

TailFit fit_of(TailFamily family, LatencyHistogram const& samples) {
    std::vector<TailFit> const fits = fit_tails(samples);
    auto const found = std::ranges::find(fits, family, [](TailFit const& fit) { return fit.distribution.family; });
    if (found == fits.end()) { throw std::runtime_error{"no fit of " + std::string{name_of(family)}}; }
    return *found;
}

TEST(FitTails, PutsTheFamilyThatItIsFirst) {
    for (TailDistribution const& from : {normal, lognormal, weibull, exponential}) {
        std::vector<TailFit> const fits = fit_tails(drawn(from, 20'000, 1));
        ASSERT_EQ(fits.size(), 4U) << name_of(from.family);
        EXPECT_EQ(fits.front().distribution.family, from.family);
        EXPECT_NEAR(fits.front().distribution.a, from.a, 4.0 * fits.front().a_error) << name_of(from.family);
        EXPECT_NEAR(fits.front().distribution.b, from.b, 4.0 * fits.front().b_error) << name_of(from.family);
        EXPECT_LT(fits.front().distance, 1.63 / std::sqrt(20'000.0)) << "Kolmogorov's at 1 %";
        EXPECT_LT(fits.front().tail_error, 0.1) << name_of(from.family);
        for (std::size_t i = 1; i < fits.size(); ++i) { EXPECT_GT(fits[i].aicc, fits[i - 1].aicc + 10.0); }
    }
}

TEST(FitTails, IsTheClosedFormWhereCellsAreFine) {
    // Expectation: mean and deviation of the samples, or of their logarithms; errors s/sqrt(n) and s/sqrt(2n).
    constexpr int n = 5000;
    CounterRandom random{77};
    LatencyHistogram plain, wide;
    double sum = 0.0, squares = 0.0, log_sum = 0.0, log_squares = 0.0;
    for (int i = 0; i < n; ++i) {
        double const x = normal.quantile_above(random.uniform()), y = lognormal.quantile_above(random.uniform());
        plain.record(x);
        wide.record(y);
        sum += x;
        squares += x * x;
        log_sum += std::log(y);
        log_squares += std::log(y) * std::log(y);
    }
    TailFit const by_x = fit_of(TailFamily::normal, plain), by_log = fit_of(TailFamily::lognormal, wide);
    double const deviation = std::sqrt(squares / n - sum / n * (sum / n));
    EXPECT_NEAR(by_x.distribution.a, sum / n, 1e-3 * deviation);
    EXPECT_NEAR(by_x.distribution.b, deviation, 1e-3 * deviation);
    EXPECT_NEAR(by_x.a_error, deviation / std::sqrt(n), 1e-3 * by_x.a_error);
    EXPECT_NEAR(by_x.b_error, deviation / std::sqrt(2.0 * n), 1e-3 * by_x.b_error);
    double const log_deviation = std::sqrt(log_squares / n - log_sum / n * (log_sum / n));
    EXPECT_NEAR(by_log.distribution.a, log_sum / n, 1e-3 * log_deviation);
    EXPECT_NEAR(by_log.distribution.b, log_deviation, 1e-3 * log_deviation);
}

TEST(FitTails, FindsTheGreatestLikelihoodOfTheCells) {
    // Expectation: ln L over the cells, summed here, is what the fit says, and falls to every side of it by half a squared
    // standard error.
    auto const likelihood = [](TailDistribution const& tail, LatencyHistogram const& samples) {
        double sum = 0.0;
        samples.each([&](LatencyHistogram::Cell const& cell) {
            double const low = tail.share_above(cell.low), high = tail.share_above(cell.high);
            sum += static_cast<double>(cell.count) *
                   std::log(low < 0.5 ? low - high
                                      : test::share_up_to(tail, cell.high) - test::share_up_to(tail, cell.low));
        });
        return sum;
    };
    for (TailDistribution const& from : {normal, lognormal, weibull}) {
        LatencyHistogram const samples = drawn(from, 3000, 5);
        TailFit const fit = fit_of(from.family, samples);
        EXPECT_NEAR(likelihood(fit.distribution, samples), fit.log_likelihood, 0.05) << name_of(from.family);
        EXPECT_NEAR(fit.aicc, -2.0 * fit.log_likelihood + 4.0 + 12.0 / 2997.0, 1e-9);
        double const best = likelihood(fit.distribution, samples);
        for (double const step : {-1.0, 1.0}) {
            TailDistribution moved = fit.distribution;
            moved.a += step * fit.a_error;
            EXPECT_LT(likelihood(moved, samples), best - 0.4) << name_of(from.family);
            moved = fit.distribution;
            moved.b += step * fit.b_error;
            EXPECT_LT(likelihood(moved, samples), best - 0.4) << name_of(from.family);
        }
    }
}

TEST(FitTails, HoldsWhereCellsAreCoarse) {
    // Expectation: a deviation of a third of a cell is still found; the mean and the deviation of cells would be off by
    // the cells' width.
    TailDistribution const steady{.family = TailFamily::normal, .a = 10.0, .b = 0.003};
    TailFit const fit = fit_of(TailFamily::normal, drawn(steady, 100'000, 3));
    EXPECT_NEAR(fit.distribution.b, 0.003, 4.0 * fit.b_error);
    EXPECT_NEAR(fit.distribution.a, 10.0, 4.0 * fit.a_error);
    EXPECT_LT(fit.b_error, 2e-5);
}

TEST(FitTails, LeavesOutWhatCannotBe) {
    LatencyHistogram samples = drawn(exponential, 1000, 9);
    samples.record(0.0, 5);
    for (TailFit const& fit : fit_tails(samples)) {
        EXPECT_NE(fit.distribution.family, TailFamily::lognormal);
        EXPECT_NE(fit.distribution.family, TailFamily::weibull);
        EXPECT_TRUE(std::isfinite(fit.aicc));
    }
    LatencyHistogram two;
    two.record(1.0, 30);
    two.record(2.0, 70);
    for (TailFit const& fit : fit_tails(two)) { EXPECT_GT(fit.distance, 0.3) << name_of(fit.distribution.family); }
}

TEST(FitTails, FitsWhatItDoesNotSuit) {
    // Expectation: of tails so heavy that one sample outweighs all others, every family has its best fit still.
    for (double const shape : {0.3, 0.7, 1.2, 3.0}) {
        TailDistribution const heavy{.family = TailFamily::pareto_tail, .a = 1.0, .b = shape, .threshold = 3.0};
        std::vector<TailFit> const fits = fit_tails(drawn(heavy, 200'000, 3));
        EXPECT_EQ(fits.size(), 4U) << shape;
        for (TailFit const& fit : fits) {
            EXPECT_TRUE(std::isfinite(fit.aicc) && fit.a_error > 0.0 && fit.b_error > 0.0) << shape;
        }
    }
}

TEST(FitTails, SaysWhenThereIsTooLittle) {
    LatencyHistogram few, equal;
    for (int i = 1; i < 20; ++i) { few.record(i); }
    equal.record(0.25, 1000);
    for (LatencyHistogram const& samples : {few, equal, LatencyHistogram{}}) {
        try {
            fit_tails(samples);
            ADD_FAILURE();
        } catch (InputError const& error) { EXPECT_EQ(error.fault(), Fault::insufficient); }
    }
}

TEST(FitTails, ReadsCellsNotSamples) {
    // Expectation: a hundred million samples, which fill some 10,000 cells, are fitted as fast as these cells: below 0.2 s
    // with every family and every threshold.
    LatencyHistogram samples;
    constexpr int points = 200'000;
    for (int i = 0; i < points; ++i) { samples.record(lognormal.quantile_above((i + 0.5) / points), 500); }
    ASSERT_EQ(samples.count(), 100'000'000U);
    double const start = test::processor_seconds();
    std::vector<TailFit> const fits = fit_tails(samples);
    bool const has_tail = fit_pareto_tail(samples).has_value();
    EXPECT_LT(test::processor_seconds() - start, 10.0) << "0.2 s optimised";
    EXPECT_NEAR(fits.front().distribution.b, lognormal.b, 1e-3);
    EXPECT_FALSE(has_tail) << "every value stands 500 times, which no density does";
}

} // namespace
} // namespace headroom::fit
