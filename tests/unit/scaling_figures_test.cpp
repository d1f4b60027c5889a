// Figures of a fit, each a second way: by hand, or from another law that is the same curve.

#include "headroom/error.hpp"
#include "headroom/fit/scaling_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace headroom::fit {
namespace {

ScalingData seconds(std::vector<ScalingSample> samples) {
    return {.samples = std::move(samples), .measured = Measured::seconds, .scaling = Scaling::strong};
}
ScalingData rates(std::vector<ScalingSample> samples) {
    return {.samples = std::move(samples), .measured = Measured::throughput, .scaling = Scaling::unsaid};
}
LawFit fitted(char const* law, ScalingData const& data, FitQuestion const& question = {}) {
    return fit_law(*scaling_law(law), data, question);
}
FitQuestion only(char const* law, Centre centre = Centre::mean) {
    FitQuestion question;
    question.laws = {law};
    question.centre = centre;
    return question;
}
FitQuestion by(Intervals intervals) {
    FitQuestion question;
    question.intervals = intervals;
    return question;
}
FitQuestion normalised() {
    FitQuestion question;
    question.normalise = true;
    return question;
}
bool has(ScalingReport const& report, std::string_view kind) {
    return std::ranges::find(report.findings, kind, &Finding::kind) != report.findings.end();
}

TEST(ScalingFigures, RepeatsSpreadAroundTheirMean) {
    // Expectation: means 12 and 7 and 4.5 lie on 2 + 10/K; the six errors of 1/2 leave a sum of squares of 1.5, with
    // four degrees of freedom.
    LawFit const fit =
        fitted("fixed_communication", seconds({{1, 11.5}, {1, 12.5}, {2, 6.5}, {2, 7.5}, {4, 4.0}, {4, 5.0}}));
    EXPECT_NEAR(fit.c[0], 2.0, 1e-12);
    EXPECT_NEAR(fit.c[1], 10.0, 1e-12);
    EXPECT_NEAR(fit.rss, 1.5, 1e-12);
    EXPECT_EQ(fit.degrees_of_freedom, 4);
    EXPECT_NEAR(fit.residual_standard_error.value(), std::sqrt(1.5 / 4.0), 1e-12);
}

TEST(ScalingFigures, WeightsCountInTheMeanThatAdjustedR2IsAgainst) {
    // Expectation: 2 + 10/K again, the last one off by 0.4 twice with opposite signs; weights 1, 1, 3, 3 are 0.5 to 1.5.
    ScalingData const data = seconds({{1, 12.0, 1.0}, {2, 7.0, 1.0}, {4, 4.9, 3.0}, {4, 4.1, 3.0}});
    LawFit const fit = fitted("fixed_communication", data);
    double const rss = 2.0 * 1.5 * 0.16, mean = (0.5 * 12.0 + 0.5 * 7.0 + 1.5 * 9.0) / 4.0;
    double total = 0.0;
    for (ScalingSample const& one : data.samples) { total += 0.5 * one.weight * std::pow(one.value - mean, 2.0); }
    EXPECT_NEAR(fit.rss, rss, 1e-12);
    EXPECT_NEAR(fit.adjusted_r2.value(), 1.0 - (rss / 2.0) / (total / 3.0), 1e-12);
}

TEST(ScalingFigures, UnequalWeightsMakeAWeightedMean) {
    auto const means = means_of(std::vector<ScalingSample>{{2, 10.0, 1.0}, {1, 5.0, 2.0}, {2, 14.0, 3.0}});
    ASSERT_EQ(means.size(), 2u);
    EXPECT_DOUBLE_EQ(means[1].value, 13.0);
    EXPECT_DOUBLE_EQ(means[1].weight, 4.0);
    // Expectation: the constant is that mean over all of them: (2 x 5 + 10 + 3 x 14) / 6.
    ScalingData const data{{{2, 10.0, 1.0}, {1, 5.0, 2.0}, {2, 14.0, 3.0}}, Measured::value, Scaling::unsaid};
    EXPECT_NEAR(fitted("constant", data).c[0], 62.0 / 6.0, 1e-12);
}

TEST(ScalingFigures, TheMedianOfTwoLiesBetweenThem) {
    ScalingData const data{{{1, 3.0}, {1, 5.0}, {2, 4.0}, {2, 9.0}, {2, 100.0}}, Measured::value, Scaling::unsaid};
    EXPECT_NEAR(fitted("constant", data, only("constant", Centre::median)).c[0], (4.0 + 9.0) / 2.0, 1e-12);
}

TEST(ScalingFigures, TheCriterionNeedsOneMeasurementMoreThanItCounts) {
    // Expectation: two coefficients and the variance are three; 4 measurements leave n - k - 1 = 0, 5 leave 1.
    std::vector<ScalingSample> samples{{1, 12.1}, {2, 6.9}, {4, 4.6}, {8, 3.2}};
    EXPECT_EQ(fitted("fixed_communication", seconds(samples)).aicc, std::nullopt);
    samples.push_back({16, 2.7});
    LawFit const fit = fitted("fixed_communication", seconds(samples));
    EXPECT_NEAR(fit.aicc.value(), 5.0 * std::log(fit.rss / 5.0) + 6.0 + 24.0, 1e-9);
}

TEST(ScalingFigures, WhatTheCriterionCounts) {
    std::vector<ScalingSample> const samples{{1, 10.0}, {2, 19.1}, {4, 35.9}, {8, 64.0}, {16, 99.0}, {32, 130.0}};
    EXPECT_EQ(fitted("usl", rates(samples)).counted, 3);
    LawFit const normalised = fitted("usl_normalised", rates(samples)); // X(1) was read off the measurements
    EXPECT_EQ(normalised.fitted, 2);
    EXPECT_EQ(normalised.counted, 3);
    LawFit const form = fitted("normal_form", rates(samples)); // both exponents were chosen
    EXPECT_EQ(form.fitted, 2);
    EXPECT_EQ(form.counted, 4);
}

TEST(ScalingFigures, TheLargestCountIsLeftOutWithItsWeights) {
    // Expectation: 2 + 10/K through the first three foretells 3.25 at 8, where 3.0 and 4.0 (weight 3) were measured.
    LawFit const fit =
        fitted("fixed_communication", seconds({{1, 12.0}, {2, 7.0}, {4, 4.5}, {8, 3.0, 1.0}, {8, 4.0, 3.0}}));
    EXPECT_NEAR(fit.leave_last_out_error.value(), (0.25 / 3.0 + 3.0 * 0.75 / 4.0) / 4.0, 1e-9);
}

TEST(ScalingFigures, ASerialShareOfAllIsAtItsUpperBound) {
    LawFit const fit = fitted("amdahl", rates({{1, 10.1}, {2, 9.9}, {4, 9.8}, {8, 9.9}}));
    EXPECT_EQ(fit.c[1], 1.0);
    EXPECT_TRUE(fit.coefficients[1].at_bound);
    EXPECT_FALSE(fit.coefficients[0].at_bound);
    EXPECT_EQ(fit.coefficients[1].high, 1.0);
}

TEST(ScalingFigures, TimesApproachTheirShareAndRatesTheirMultiple) {
    // Expectation: 2 + 10/K ends at 2 s, six times as fast as one worker's 12 s.
    std::vector<ScalingSample> times{{1, 12.0}, {2, 7.0}, {4, 4.5}, {8, 3.25}};
    LawFit const fit = fitted("fixed_communication", seconds(times));
    EXPECT_NEAR(fit.ceiling.value(), 6.0, 1e-9);
    EXPECT_NEAR(fit.ceiling_value.value(), 2.0, 1e-9);
    for (ScalingSample& one : times) { one.value = 1.0 / one.value; }
    LawFit const turned = fitted("fixed_communication", rates(times));
    EXPECT_NEAR(turned.ceiling.value(), 6.0, 1e-6);
    EXPECT_NEAR(turned.ceiling_value.value(), 0.5, 1e-6);
}

TEST(ScalingFigures, AChainAndTheUniversalLawAreOneCurve) {
    // Expectation: a = (alpha - beta)/gamma, b = (1 - alpha)/gamma, c = beta/gamma, so that both say the same of it.
    LawFit truth;
    truth.law = scaling_law("usl");
    truth.c = {50.0, 0.06, 0.002};
    ScalingData data = rates({});
    for (double const k : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0}) {
        data.samples.push_back({k, curve_at(truth, data, k) * (k == 4.0 ? 1.01 : 1.0)});
    }
    LawFit const universal = fitted("usl", data), chain = fitted("chain_synchronisation", data);
    auto const near = [](std::optional<double> a, std::optional<double> b) {
        ASSERT_TRUE(a && b);
        EXPECT_NEAR(*a / *b, 1.0, 1e-6);
    };
    near(chain.rss, universal.rss);
    near(chain.peak_workers, universal.peak_workers);
    near(chain.ceiling, universal.ceiling);
    near(chain.ceiling_value, universal.ceiling_value);
    near(chain.limit, universal.limit);
    near(chain.limit_value, universal.limit_value);
    EXPECT_NEAR(universal.limit.value(), 1.0 / universal.c[1], 1e-9);
}

TEST(ScalingFigures, APeakIsHigherThanWhatLiesBesideIt) {
    ScalingData const data = seconds({{1, 2.2}, {2, 1.25}, {4, 0.82}, {8, 0.58}, {16, 0.54}, {32, 0.51}, {64, 0.54}});
    for (char const* law : {"tree_synchronisation", "chain_synchronisation", "usl"}) {
        LawFit const fit = fitted(law, data);
        double const peak = fit.peak_workers.value(), time = curve_at(fit, data, peak);
        EXPECT_LT(time, curve_at(fit, data, 0.99 * peak)) << law;
        EXPECT_LT(time, curve_at(fit, data, 1.01 * peak)) << law;
        EXPECT_NEAR(fit.ceiling.value(), curve_at(fit, data, 1.0) / time, 1e-9) << law;
        EXPECT_NEAR(fit.ceiling_value.value(), time, 1e-9) << law;
    }
}

TEST(ScalingFigures, AGrowingProblemWithALinearOverheadHasAnEnd) {
    // Expectation: K units of work in 3 + K/4 seconds: 4 a second in the end, 13 times what one worker does.
    ScalingData data = seconds({{1, 3.25}, {2, 3.5}, {4, 4.0}, {8, 5.0}});
    data.scaling = Scaling::weak;
    EXPECT_NEAR(fitted("linear_growth", data).ceiling.value(), 13.0, 1e-9);
}

TEST(ScalingFigures, ACurveThatOnlyFallsIsHighestAtOneWorker) {
    LawFit const fit = fitted("usl", rates({{1, 100.0}, {2, 80.0}, {4, 66.0}, {8, 57.0}, {16, 53.5}}));
    EXPECT_GT(fit.c[1], 1.0);
    EXPECT_EQ(fit.ceiling, 1.0);
    EXPECT_NEAR(fit.ceiling_value.value(), curve_at(fit, rates({}), 1.0), 1e-9);
}

TEST(ScalingFigures, OneCountIsRefusedWhereGammaIsGiven) {
    EXPECT_THROW(fit_scaling(rates({{1, 5.0}}), normalised()), InputError);
    EXPECT_THROW(fit_scaling(rates({{1, 5.0}, {1, 5.1}}), normalised()), InputError);
    ScalingReport const two = fit_scaling(rates({{1, 5.0}, {2, 9.0}}), normalised());
    EXPECT_NEAR(two.fits.front().leave_last_out_error.value(), 1.0 / 9.0, 1e-12); // 10 foretold
}

TEST(ScalingFigures, SynchronisationThatStaysOrFallsDoesNotGrow) {
    for (double const slope : {0.0, -0.2}) {
        ScalingData data{.samples = {}, .measured = Measured::sync, .scaling = Scaling::unsaid};
        for (double const k : {2.0, 4.0, 8.0, 16.0}) { data.samples.push_back({k, 3.0 + slope * std::log2(k)}); }
        EXPECT_EQ(fit_scaling(data, {}).sync.value().growth, "none") << slope;
    }
}

TEST(ScalingFigures, OddsOfAChainAreThoseOfTheFormula) {
    // Expectation: six measurements, four degrees of freedom: (RSS of the tree over that of the chain) squared.
    ScalingData data{.samples = {}, .measured = Measured::sync, .scaling = Scaling::unsaid};
    double sign = 1.0;
    for (double const k : {2.0, 4.0, 6.0, 8.0, 10.0, 12.0}) {
        data.samples.push_back({k, 5.0 + k + 0.4 * (sign = -sign)});
    }
    LawFit const chain = fitted("linear_growth", data), tree = fitted("logarithmic_growth", data);
    SyncGrowth const sync = fit_scaling(data, {}).sync.value();
    EXPECT_NEAR(sync.likelihood_ratio, std::pow(tree.rss / chain.rss, 2.0), 1e-9 * sync.likelihood_ratio);
    EXPECT_NEAR(sync.aicc_difference, tree.aicc.value() - chain.aicc.value(), 1e-9);
    EXPECT_EQ(sync.growth, sync.likelihood_ratio >= 20.0 ? "linear" : "unclear");
}

TEST(ScalingFigures, ResampledResidualsPullNowhere) {
    // Expectation: X = gamma K leaves residuals whose mean is far from zero; centred, they spread gamma evenly.
    ScalingData const data = rates({{1, 40.0}, {2, 50.0}, {4, 66.0}, {8, 110.0}, {16, 180.0}});
    LawFit const fit = fitted("linear", data, by(Intervals::bootstrap));
    double const below = fit.c[0] - fit.coefficients[0].low.value(),
                 above = fit.coefficients[0].high.value() - fit.c[0];
    EXPECT_GT(below, 0.5 * above);
    EXPECT_GT(above, 0.5 * below);
}

TEST(ScalingFigures, ResamplingGivesEachMeasurementErrorsOfItsOwnWeight) {
    // Expectation: one measurement of weight 1e4 among four of 1: gamma is known by it to s / (100 x 16) and not to
    // the errors of the others.
    ScalingData const data = rates({{1, 11.0}, {2, 18.0}, {4, 43.0}, {8, 77.0}, {16, 160.0, 1e4}});
    LawFit const drawn = fitted("linear", data, by(Intervals::bootstrap)), profile = fitted("linear", data);
    double const width = drawn.coefficients[0].high.value() - drawn.coefficients[0].low.value();
    double const exact = profile.coefficients[0].high.value() - profile.coefficients[0].low.value();
    EXPECT_LT(width, 1.5 * exact);
    EXPECT_GT(width, 0.3 * exact);
}

TEST(ScalingFigures, MediansDoNotMissByTheScatterOfRepeats) {
    // Expectation: medians 12, 7, 4.5, 3.25 are on the curve, whatever the repeats do around them.
    std::vector<ScalingSample> samples;
    for (auto const& [k, y] : {std::pair{1.0, 12.0}, {2.0, 7.0}, {4.0, 4.5}, {8.0, 3.25}}) {
        for (double const off : {-0.02, 0.0, 0.9}) { samples.push_back({k, y + off}); }
    }
    FitQuestion const medians = only("fixed_communication", Centre::median);
    EXPECT_FALSE(has(fit_scaling(seconds(samples), medians), "lack_of_fit"));
    for (ScalingSample& one : samples) { one.value += one.workers == 4.0 ? 3.0 : 0.0; }
    EXPECT_TRUE(has(fit_scaling(seconds(samples), only("fixed_communication")), "lack_of_fit"));
}

TEST(ScalingFigures, AFractionBelowZeroIsNoOverhead) {
    KarpFlatt const result = karp_flatt(rates({{1, 10.0}, {2, 21.0}, {4, 44.0}, {8, 92.0}, {16, 190.0}, {32, 400.0}}));
    for (KarpFlattPoint const& point : result.points) { EXPECT_LT(point.serial_fraction, 0.0); }
    EXPECT_EQ(result.verdict.find("overhead"), std::string::npos) << result.verdict;
    EXPECT_NE(result.verdict.find("below zero"), std::string::npos) << result.verdict;
}

TEST(ScalingFigures, ALawThatMissesGivesNothingBeyond) {
    FitQuestion question;
    question.predict = {1.0, 16.0, 1024.0};
    ScalingReport const report =
        fit_scaling(seconds({{2, 9.0}, {4, 1.0}, {8, 30.0}, {16, 2.0}, {32, 40.0}, {64, 1.0}}), question);
    LawFit const& best = report.fits[report.best];
    EXPECT_EQ(best.withheld, Withheld::smape);
    EXPECT_FALSE(best.peak_workers || best.ceiling || best.ceiling_value || best.limit || best.limit_value);
    ASSERT_EQ(report.predictions.size(), 1U);
    EXPECT_EQ(report.predictions.front().workers, 16.0);
    EXPECT_TRUE(has(report, "withheld"));
}

TEST(ScalingFigures, RowsOfSeveralSeriesGiveNothingBeyond) {
    ScalingData data = seconds({{1, 12.0}, {2, 7.0}, {4, 4.6}, {8, 3.25}});
    data.mixed = "the rows are of 2 series";
    for (LawFit const& one : fit_scaling(data, {}).fits) { EXPECT_EQ(one.withheld, Withheld::series) << one.law->name; }
}

TEST(ScalingFigures, TimesThatHardlyChangeAskForTheScaling) {
    ScalingData data = seconds({{1, 10.0}, {2, 10.4}, {4, 10.2}, {8, 11.0}});
    data.scaling = Scaling::unsaid;
    for (LawFit const& one : fit_scaling(data, {}).fits) {
        EXPECT_NE(one.withheld, Withheld::nothing) << one.law->name;
    }
    data.scaling = Scaling::weak;
    EXPECT_EQ(fit_scaling(data, {}).fits.front().withheld, Withheld::nothing);
}

// Over 4 workers: T(8) / T(4); 1.6x of 2x is an efficiency of 0.8. Stated speedups stay as they are.
TEST(ScalingFigures, SpeedupsAreOverTheSmallestCountOrAsStated) {
    ScalingData const times = seconds({{4, 16.0}, {8, 10.0}, {16, 7.0}});
    EXPECT_EQ(base_workers(times), 4.0);
    EXPECT_DOUBLE_EQ(measured_speedups(times)[1].value, 1.6);
    ScalingReport const report = fit_scaling(times, {});
    EXPECT_DOUBLE_EQ(report.predictions.front().speedup.value(), 1.0);
    EXPECT_DOUBLE_EQ(report.predictions[1].ideal.value(), 8.0);
    EXPECT_DOUBLE_EQ(report.predictions[1].ratio.value(), 1.25);
    EXPECT_DOUBLE_EQ(report.predictions[1].worker_hours.value(), 80.0 / 3600.0);
    ScalingData const stated{.samples = {{4, 3.72}, {8, 4.77}, {16, 5.21}}, .measured = Measured::speedup};
    EXPECT_EQ(base_workers(stated), 1.0);
    EXPECT_EQ(karp_flatt(stated).points.size(), 3U);
    EXPECT_EQ(base_workers({.samples = {{4, 1.0}, {8, 1.28}}, .measured = Measured::speedup}), 4.0);
}

TEST(ScalingFigures, TheLargestMeasuredCountIsNotBeyond) {
    ScalingReport const report = fit_scaling(seconds({{1, 12.0}, {2, 7.0}, {4, 4.6}, {8, 3.25}}), {});
    ASSERT_EQ(report.predictions.size(), 6u);
    EXPECT_FALSE(report.predictions[3].beyond);
    EXPECT_TRUE(report.predictions[4].beyond);
    EXPECT_EQ(report.predictions[4].workers, 16.0);
    EXPECT_EQ(report.predictions[5].workers, 32.0);
}

TEST(ScalingFigures, ABandOfMeasurementsAddsIndependentErrors) {
    // Expectation: (edge - value)^2 is the curve's own plus (t s)^2; t of 5 % and 4 degrees of freedom is 2.131847.
    ScalingData const data = seconds({{1, 12.3}, {2, 6.8}, {4, 4.6}, {8, 3.1}, {16, 2.7}, {32, 2.4}});
    LawFit const fit = fitted("fixed_communication", data);
    double const at = 3.0, noise = 2.131846786 * fit.residual_standard_error.value();
    ScalingPrediction const row = predict(fit, data, {}, std::span{&at, 1}).front();
    double const curve = row.curve_high.value() - row.value, measurement = row.high.value() - row.value;
    EXPECT_NEAR(measurement * measurement, curve * curve + noise * noise, 1e-6 * measurement * measurement);
}

TEST(ScalingFigures, NoCoefficientsAsGoodLieOutsideTheIntervals) {
    // Expectation: whatever a grid finds within s^2 t^2 of the least sum of squares is inside; gamma by its own minimum.
    // t of 5 % and one degree of freedom is 6.313752. The valley of the profile is not the one that the fit lies in.
    ScalingData data = rates({{3, 257.116}, {12, 895.745}, {16, 1167.11}, {24, 1719.56}});
    data.scaling = Scaling::weak;
    LawFit const fit = fitted("sun_ni", data);
    double const reach = fit.rss * (1.0 + 0.998 * 6.313752 * 6.313752);
    int near = 0;
    for (int i = 0; i <= 400; ++i) {
        for (int j = 0; j <= 100; ++j) {
            LawFit other = fit;
            other.c = {1.0, i / 400.0, j / 100.0};
            double shared = 0.0, square = 0.0, rss = 0.0;
            for (ScalingSample const& one : data.samples) {
                double const curve = curve_at(other, data, one.workers);
                shared += curve * one.value;
                square += curve * curve;
            }
            other.c[0] = shared / square;
            for (ScalingSample const& one : data.samples) {
                rss += std::pow(curve_at(other, data, one.workers) - one.value, 2.0);
            }
            if (rss > reach) { continue; }
            ++near;
            for (std::size_t k = 0; k < 3; ++k) {
                EXPECT_GE(other.c[k], fit.coefficients[k].low.value() - 1e-9) << i << " " << j;
                EXPECT_LE(other.c[k], fit.coefficients[k].high.value() + 1e-9) << i << " " << j;
            }
        }
    }
    EXPECT_GT(near, 10);
}

} // namespace
} // namespace headroom::fit
