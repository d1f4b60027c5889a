#include "support/random.hpp"

#include "headroom/fit/scaling_fit.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

namespace headroom::fit {
namespace {

using test::CounterRandom;

constexpr std::uint64_t seed = 20240607;

double normal(CounterRandom& random) {
    return std::sqrt(-2.0 * std::log(random.uniform())) * std::cos(2.0 * std::numbers::pi * random.uniform());
}

double spread(double low, double high) {
    double const share = *rc::gen::inRange(0, 1 << 20) / static_cast<double>(1 << 20);
    return low * std::pow(high / low, share);
}

/// A law with known coefficients, and where it is measured.
struct Truth {
    char const* law;
    Measured measured;
    Coefficients c;
    std::vector<double> workers;
    double noise; ///< of a measurement, as a share of the mean of the curve
};

std::vector<Truth> const& truths() {
    static std::vector<Truth> const all{
        {"usl", Measured::throughput, {100.0, 0.05, 0.0005}, {1, 2, 4, 8, 12, 16, 24, 32, 48, 64}, 0.01},
        {"amdahl", Measured::throughput, {100.0, 0.05, 0.0}, {1, 2, 4, 8, 16, 32, 64, 128}, 0.02},
        {"tree_synchronisation", Measured::seconds, {0.2, 2.0, 0.05}, {1, 2, 4, 8, 16, 32, 64, 128, 256}, 0.02},
    };
    return all;
}

LawFit true_fit(Truth const& truth) {
    LawFit fit;
    fit.law = scaling_law(truth.law);
    fit.c = truth.c;
    return fit;
}

ScalingData exact(Truth const& truth) {
    ScalingData data{.samples = {}, .measured = truth.measured, .scaling = Scaling::unsaid};
    LawFit const fit = true_fit(truth);
    for (double const k : truth.workers) { data.samples.push_back({k, curve_at(fit, data, k), 1.0}); }
    return data;
}

ScalingData noisy(Truth const& truth, std::uint64_t trial) {
    ScalingData data = exact(truth);
    double mean = 0.0;
    for (ScalingSample const& sample : data.samples) {
        mean += sample.value / static_cast<double>(data.samples.size());
    }
    CounterRandom random{seed + 1000003 * trial};
    for (ScalingSample& sample : data.samples) { sample.value += truth.noise * mean * normal(random); }
    return data;
}

// 90 % of 500 trials is 450, with a standard deviation of 6.7: 85 and 95 % are 3.7 of them away
TEST(ScalingFitProperty, NinetyPercentIntervalsCoverTheTruth) {
    constexpr int trials = 500;
    for (Truth const& truth : truths()) {
        std::map<std::string, int> inside;
        for (int trial = 0; trial < trials; ++trial) {
            LawFit const fit = fit_law(*scaling_law(truth.law), noisy(truth, static_cast<std::uint64_t>(trial)), {});
            for (std::size_t j = 0; j < fit.coefficients.size(); ++j) {
                FittedCoefficient const& one = fit.coefficients[j];
                ASSERT_TRUE(one.low && one.high) << truth.law << " " << one.name << ", trial " << trial;
                inside[one.name] += *one.low <= truth.c[j] && truth.c[j] <= *one.high ? 1 : 0;
            }
        }
        for (auto const& [name, count] : inside) {

            EXPECT_GE(count, trials * 85 / 100) << truth.law << " " << name << ", seed " << seed;
            EXPECT_LE(count, trials * 95 / 100) << truth.law << " " << name << ", seed " << seed;
        }
    }
}

} // namespace
} // namespace headroom::fit
