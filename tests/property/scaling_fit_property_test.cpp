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

// Errors that are a share of the time, over a range where absolute ones would only see one worker
TEST(ScalingFitProperty, RelativeErrorsHaveTheirOwnIntervalsAndBands) {
    constexpr int trials = 500;
    Truth const truth{"fixed_communication", Measured::seconds, {0.5, 100.0, 0.0}, {1, 2, 4, 8, 16, 32, 64, 128}, 0.0};
    std::vector<double> const at{256};
    FitQuestion question;
    question.relative_errors = true;
    int fixed = 0, divides = 0, curve = 0, measured = 0;
    for (int trial = 0; trial < trials; ++trial) {
        ScalingData data = exact(truth);
        CounterRandom random{seed + 99 + 1000003 * static_cast<std::uint64_t>(trial)};
        for (ScalingSample& sample : data.samples) { sample.value *= 1.0 + 0.03 * normal(random); }
        LawFit const fit = fit_law(*scaling_law(truth.law), data, question);
        auto const holds = [&](std::size_t j) {
            return *fit.coefficients[j].low <= truth.c[j] && truth.c[j] <= *fit.coefficients[j].high ? 1 : 0;
        };
        fixed += holds(0);
        divides += holds(1);
        ScalingPrediction const row = predict(fit, data, question, at).front();
        double const there = curve_at(true_fit(truth), data, at[0]), again = there * (1.0 + 0.03 * normal(random));
        curve += *row.curve_low <= there && there <= *row.curve_high ? 1 : 0;
        measured += *row.low <= again && again <= *row.high ? 1 : 0;
    }
    for (int const count : {fixed, divides, curve, measured}) {
        EXPECT_GE(count, trials * 85 / 100) << "seed " << seed;
        EXPECT_LE(count, trials * 95 / 100) << "seed " << seed;
    }
}

// The band of the curve holds the true curve, and that of measurements a new one, also beyond the measured counts
TEST(ScalingFitProperty, NinetyPercentBandsCoverTheTruth) {
    constexpr int trials = 500;
    Truth const& truth = truths().front();
    std::vector<double> const at{10, 96};
    int curve = 0, measured = 0;
    for (int trial = 0; trial < trials; ++trial) {
        ScalingData const data = noisy(truth, static_cast<std::uint64_t>(trial));
        LawFit const fit = fit_law(*scaling_law(truth.law), data, {});
        std::vector<ScalingPrediction> const rows = predict(fit, data, {}, at);
        double const beyond = curve_at(true_fit(truth), data, at[1]), inside = curve_at(true_fit(truth), data, at[0]);
        CounterRandom random{seed + 7 + 1000003 * static_cast<std::uint64_t>(trial)};
        double mean = 0.0;
        for (ScalingSample const& sample : exact(truth).samples) { mean += sample.value / 10.0; }
        double const again = inside + truth.noise * mean * normal(random);
        curve += *rows[1].curve_low <= beyond && beyond <= *rows[1].curve_high ? 1 : 0;
        measured += *rows[0].low <= again && again <= *rows[0].high ? 1 : 0;
    }
    for (int const count : {curve, measured}) {
        EXPECT_GE(count, trials * 85 / 100) << "seed " << seed;
        EXPECT_LE(count, trials * 95 / 100) << "seed " << seed;
    }
}

TEST(ScalingFitProperty, TheCriterionFindsTheTrueLaw) {
    constexpr int trials = 60;
    std::vector<std::string> const names{"linear", "amdahl", "usl", "tree_synchronisation"};
    for (Truth const& truth : truths()) {
        int found = 0;
        for (int trial = 0; trial < trials; ++trial) {
            ScalingData const data = noisy(truth, static_cast<std::uint64_t>(trial) + 5000);
            FitQuestion question;
            question.intervals = Intervals::asymptotic;
            std::string best;
            double least = INFINITY;
            for (std::string const& name : names) {
                double const aicc = *fit_law(*scaling_law(name), data, question).aicc;
                if (aicc < least) {
                    least = aicc;
                    best = name;
                }
            }
            found += best == truth.law ? 1 : 0;
        }
        EXPECT_GE(found, trials * 3 / 4) << truth.law << ", seed " << seed;
    }
}

/// Coefficients that a law may have, and the counts it is measured at.
Truth any_truth() {
    double const scale = spread(1e-6, 1e9);
    std::vector<double> const workers{1, 2, 3, 5, 8, 16, 32, 64, 100};
    switch (*rc::gen::inRange(0, 8)) {
    case 0: return {"linear", Measured::throughput, {scale, 0, 0}, workers, 0};
    case 1: return {"amdahl", Measured::seconds, {scale, spread(1e-3, 0.9), 0}, workers, 0};
    case 2: return {"gustafson", Measured::throughput, {scale, spread(1e-2, 0.9), 0}, workers, 0};
    case 3: return {"sun_ni", Measured::throughput, {scale, spread(2e-2, 0.5), spread(0.1, 0.8)}, workers, 0};
    case 4: return {"usl", Measured::seconds, {scale, spread(1e-3, 0.5), spread(1e-5, 1e-2)}, workers, 0};
    case 5: return {"tree_synchronisation", Measured::throughput, {scale, 10 * scale, 0.1 * scale}, workers, 0};
    case 6: return {"chain_synchronisation", Measured::seconds, {scale, 20 * scale, 0.05 * scale}, workers, 0};
    default: return {"logarithmic_growth", Measured::sync, {scale, spread(0.01, 10) * scale, 0}, workers, 0};
    }
}

FitQuestion quick() {
    FitQuestion question;
    question.intervals = Intervals::asymptotic;
    return question;
}

double relative(double a, double b) { return std::abs(a - b) / std::max({std::abs(a), std::abs(b), 1e-300}); }

RC_GTEST_PROP(ScalingFitProperty, CoefficientsComeBackWithoutNoise, ()) {
    Truth const truth = any_truth();
    LawFit const fit = fit_law(*scaling_law(truth.law), exact(truth), quick());
    for (std::size_t j = 0; j < fit.coefficients.size(); ++j) { RC_ASSERT(relative(fit.c[j], truth.c[j]) <= 1e-6); }
}

ScalingData any_noisy(Truth const& truth) {
    ScalingData data = exact(truth);
    CounterRandom random{static_cast<std::uint64_t>(*rc::gen::inRange(0, 1 << 30))};
    for (ScalingSample& sample : data.samples) { sample.value *= 1.0 + 0.05 * (2.0 * random.uniform() - 1.0); }
    return data;
}

/// One of the laws that apply.
ScalingLaw const& any_law(ScalingData const& data, bool chooses_exponents = true) {
    std::vector<ScalingLaw const*> laws;
    for (ScalingLaw const& law : scaling_laws()) {
        bool const asked = chooses_exponents || law.gives != Gives::value;
        if (asked && law.applies(data.measured, data.scaling)) { laws.push_back(&law); }
    }
    return **rc::gen::elementOf(laws);
}

/// Coefficients that the measurements tell apart well: the others move with the last digit of anything.
bool determined(FittedCoefficient const& one) {
    return one.at_bound || (one.standard_error && *one.standard_error < 0.5 * std::abs(one.value));
}

RC_GTEST_PROP(ScalingFitProperty, TheOrderOfRowsDoesNotMatter, ()) {
    ScalingData data = any_noisy(any_truth());
    ScalingLaw const& law = any_law(data);
    LawFit const there = fit_law(law, data, quick());
    std::ranges::reverse(data.samples);
    LawFit const back = fit_law(law, data, quick());
    RC_ASSERT(there.c == back.c);
    RC_ASSERT(there.rss == back.rss);
}

RC_GTEST_PROP(ScalingFitProperty, UnitsDoNotMatter, ()) {
    ScalingData const data = any_noisy(any_truth());
    double const unit = spread(1e-9, 1e9);
    ScalingData other = data;
    for (ScalingSample& sample : other.samples) { sample.value *= unit; }
    ScalingLaw const& law = any_law(data);
    LawFit const a = fit_law(law, data, quick()), b = fit_law(law, other, quick());
    RC_ASSERT(relative(a.rss * unit * unit, b.rss) <= 1e-8);
    RC_ASSERT(a.term == b.term);
    for (double const k : {1.0, 7.0, 150.0}) {
        RC_ASSERT(relative(unit * curve_at(a, data, k), curve_at(b, other, k)) <= 1e-5);
    }
}

RC_GTEST_PROP(ScalingFitProperty, AWeightIsARepeat, ()) {
    ScalingData weighted = any_noisy(any_truth()), repeated = weighted;
    for (ScalingSample& sample : weighted.samples) {
        int const times = *rc::gen::inRange(1, 4);
        sample.weight = times;
        for (int i = 1; i < times; ++i) { repeated.samples.push_back({sample.workers, sample.value, 1.0}); }
    }
    ScalingLaw const& law = any_law(weighted, false);
    LawFit const a = fit_law(law, weighted, quick()), b = fit_law(law, repeated, quick());
    for (std::size_t j = 0; j < a.coefficients.size(); ++j) {
        if (determined(a.coefficients[j])) { RC_ASSERT(relative(a.c[j], b.c[j]) <= 1e-7); }
    }
}

/// sum w (f - y) df/dc of each coefficient, as a share of the largest that its terms allow; 0 for one that moves nothing.
std::vector<double> slopes(LawFit const& fit, ScalingData const& data) {
    std::vector<double> sum(fit.coefficients.size(), 0.0), size(fit.coefficients.size(), 0.0);
    double norm = 0.0, values = 0.0;
    for (ScalingSample const& sample : data.samples) {
        Coefficients g{};
        double const error = curve_at(fit, data, sample.workers, &g) - sample.value;
        norm += error * error;
        values += sample.value * sample.value;
        for (std::size_t j = 0; j < sum.size(); ++j) {
            sum[j] += error * g[j];
            size[j] += g[j] * g[j];
        }
    }
    for (std::size_t j = 0; j < sum.size(); ++j) {
        bool const moves = std::sqrt(size[j]) * std::max(std::abs(fit.c[j]), 1e-9) > 1e-13 * std::sqrt(values);
        sum[j] = moves ? sum[j] / std::sqrt(norm * size[j]) : 0.0;
    }
    return sum;
}

RC_GTEST_PROP(ScalingFitProperty, TheOptimumMeetsTheConditionsOfKarushKuhnTucker, ()) {
    ScalingData const data = any_noisy(any_truth());
    ScalingLaw const& law = any_law(data, false);
    LawFit const fit = fit_law(law, data, quick());
    std::vector<double> const slope = slopes(fit, data);
    for (std::size_t j = 0; j < slope.size(); ++j) {
        LawCoefficient const& bounds = law.coefficients[j];
        if (fit.coefficients[j].fixed) { continue; }
        RC_ASSERT(fit.c[j] >= bounds.low && fit.c[j] <= bounds.high);
        if (fit.c[j] == bounds.low) {
            RC_ASSERT(slope[j] >= -1e-6);
        } else if (fit.c[j] == bounds.high) {
            RC_ASSERT(slope[j] <= 1e-6);
        } else {
            RC_ASSERT(std::abs(slope[j]) <= 1e-6);
        }
    }
}

RC_GTEST_PROP(ScalingFitProperty, IntervalsHoldTheValueAndBandsTheCurve, ()) {
    ScalingData const data = any_noisy(any_truth());
    FitQuestion question;
    question.laws = {any_law(data).name, any_law(data).name};
    question.predict = {1, 200};
    ScalingReport const report = fit_scaling(data, question);
    for (LawFit const& fit : report.fits) {
        for (FittedCoefficient const& one : fit.coefficients) {
            double const slack = 1e-9 * std::abs(one.value);
            RC_ASSERT(one.low.value_or(-INFINITY) <= one.value + slack);
            RC_ASSERT(one.high.value_or(INFINITY) >= one.value - slack);
        }
    }
    for (ScalingPrediction const& row : report.predictions) {
        double const slack = 1e-9 * std::abs(row.value);
        double const low = row.curve_low.value_or(-INFINITY), high = row.curve_high.value_or(INFINITY);
        RC_ASSERT(low <= row.value + slack);
        RC_ASSERT(high >= row.value - slack);
        RC_ASSERT(row.low.value_or(-INFINITY) <= low);
        RC_ASSERT(row.high.value_or(INFINITY) >= high);
    }
    if (report.next_measurement) { RC_ASSERT(report.next_measurement->band_then <= report.next_measurement->band_now); }
}

} // namespace
} // namespace headroom::fit
