#include "headroom/error.hpp"
#include "headroom/fit/scaling_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace headroom::fit {
namespace {

using ::testing::HasSubstr;

/// Ray tracer on an SGI Origin 2000; reference fits by the R package usl 3.0.3 (tests/data/scaling).
ScalingData raytracer(std::size_t points = 11) {
    ScalingData data{.samples = {{1, 20},
                                 {4, 78},
                                 {8, 130},
                                 {12, 170},
                                 {16, 190},
                                 {20, 200},
                                 {24, 210},
                                 {28, 230},
                                 {32, 260},
                                 {48, 280},
                                 {64, 310}},
                     .measured = Measured::throughput};
    data.samples.resize(points);
    return data;
}

/// SPEC SDM91 on a SPARCcenter 2000.
ScalingData specsdm91() {
    return {.samples = {{1, 64.9}, {18, 995.9}, {36, 1652.4}, {72, 1853.2}, {108, 1828.9}, {144, 1775}, {216, 1702.2}},
            .measured = Measured::throughput};
}

FittedCoefficient coefficient(LawFit const& fit, std::string const& name) {
    for (FittedCoefficient const& one : fit.coefficients) {
        if (one.name == name) { return one; }
    }
    ADD_FAILURE() << fit.law->name << " has no " << name;
    return {};
}

LawFit fitted(char const* law, ScalingData const& data, FitQuestion const& question = {}) {
    return fit_law(*scaling_law(law), data, question);
}

/// Agreement with a number as it was printed: half of its last digit.
void expect_printed(double value, double printed, double last_digit, char const* what) {
    EXPECT_NEAR(value, printed, 0.5000001 * last_digit) << what;
}

TEST(ScalingFit, UslOfTheFirstSixPointsIsThatOfR) {
    LawFit const fit = fitted("usl", raytracer(6));
    expect_printed(coefficient(fit, "alpha").value, 0.02444, 1e-5, "alpha");
    expect_printed(coefficient(fit, "beta").value, 0.00163, 1e-5, "beta");
    expect_printed(coefficient(fit, "gamma").value, 20.85605, 1e-5, "gamma");
}

// The package prints value +- qt(0.95, n-1) x standard error under "2.5 %" and "97.5 %"; with n = 6 that is 2.015048
TEST(ScalingFit, StandardErrorsOfTheFirstSixPointsAreBehindTheIntervalsOfR) {
    LawFit const fit = fitted("usl", raytracer(6));
    double const one_sided = 2.015048372669157;
    struct Printed {
        char const* name;
        double low, high, digit;
    };
    for (auto const& [name, low, high, digit] :
         {Printed{"alpha", 0.00754, 0.04135, 1e-5}, Printed{"beta", 0.00110, 0.00215, 1e-5},
          Printed{"gamma", 19.267, 22.445, 1e-3}}) {
        FittedCoefficient const one = coefficient(fit, name);
        expect_printed(one.value - one_sided * *one.standard_error, low, digit, name);
        expect_printed(one.value + one_sided * *one.standard_error, high, digit, name);
    }
}

TEST(ScalingFit, UslOfAllElevenPointsSitsAtItsBoundAsInR) {
    LawFit const fit = fitted("usl", raytracer());
    expect_printed(coefficient(fit, "alpha").value, 0.0577708, 1e-7, "alpha");
    expect_printed(coefficient(fit, "gamma").value, 21.848843, 1e-6, "gamma");
    EXPECT_EQ(coefficient(fit, "beta").value, 0.0);
    EXPECT_TRUE(coefficient(fit, "beta").at_bound);
    EXPECT_FALSE(coefficient(fit, "beta").standard_error);
    EXPECT_EQ(coefficient(fit, "beta").low, 0.0);
    EXPECT_GT(*coefficient(fit, "beta").high, 0.0);
    EXPECT_FALSE(fit.peak_workers);
    EXPECT_NEAR(*fit.ceiling, 1.0 / 0.0577708, 1e-4) << "1/alpha where beta is 0";
}

// R stops at beta 1.14345e-5, where the sum of squares is 6e-11 higher than at the optimum
TEST(ScalingFit, UslWithGammaAtTheFirstMeasurementIsThatOfR) {
    LawFit const fit = fitted("usl_normalised", raytracer());
    expect_printed(coefficient(fit, "alpha").value, 0.0497973, 1e-7, "alpha");
    EXPECT_NEAR(coefficient(fit, "beta").value, 1.14345e-5, 1e-10);
    EXPECT_NEAR(coefficient(fit, "beta").value, 1.1434442e-5, 1e-11);
    EXPECT_EQ(coefficient(fit, "gamma").value, 20.0);
    EXPECT_TRUE(coefficient(fit, "gamma").fixed);
    EXPECT_THAT(fit.normalisation, HasSubstr("fixed to X(1)"));
    FitQuestion question;
    question.normalise = true;
    EXPECT_NEAR(coefficient(fitted("usl", raytracer(), question), "alpha").value, coefficient(fit, "alpha").value,
                1e-14);
}

TEST(ScalingFit, SpecSdm91IsThatOfR) {
    LawFit const fit = fitted("usl", specsdm91());
    expect_printed(coefficient(fit, "alpha").value, 2.773e-02, 1e-5, "alpha");
    expect_printed(coefficient(fit, "beta").value, 1.044e-04, 1e-7, "beta");
    expect_printed(coefficient(fit, "gamma").value, 9.000e+01, 1e-2, "gamma");
    expect_printed(*coefficient(fit, "alpha").standard_error, 9.122e-03, 1e-6, "error of alpha");
    expect_printed(*coefficient(fit, "beta").standard_error, 1.988e-05, 1e-8, "error of beta");
    expect_printed(*coefficient(fit, "gamma").standard_error, 14.21, 1e-2, "error of gamma");
    expect_printed(*fit.residual_standard_error, 82.85, 1e-2, "residual error");
    EXPECT_EQ(fit.degrees_of_freedom, 4);
    expect_printed(*fit.peak_workers, 96.52, 1e-2, "peak");
    expect_printed(*fit.ceiling_value, 1884, 1.0, "throughput at the peak");
    expect_printed(*fit.limit_value, 3245.6, 0.1, "limit of Amdahl");
}

TEST(ScalingFit, TheUniversalLawWinsWhereItShould) {
    ScalingReport const six = fit_scaling(raytracer(6), {});
    EXPECT_STREQ(six.fits[six.best].law->name, "usl");
    EXPECT_THAT(six.chosen_because, HasSubstr("too few measurements for its AICc"));
    ScalingReport const spec = fit_scaling(specsdm91(), {});
    EXPECT_STREQ(spec.fits[spec.best].law->name, "usl");
    EXPECT_THAT(spec.chosen_because, HasSubstr("amdahl"));
    // beta is at its bound: the same curve with one coefficient less
    ScalingReport const all = fit_scaling(raytracer(), {});
    EXPECT_STREQ(all.fits[all.best].law->name, "amdahl");
    EXPECT_EQ(spec.karp_flatt->trend, "rising");
}

// T = a + b/K under errors of the time is a straight line over 1/K: by hand
TEST(ScalingFit, AFixedCommunicationIsTheStraightLine) {
    ScalingData const data{.samples = {{1, 10}, {2, 6.5}, {4, 4}, {8, 3.5}}, .measured = Measured::seconds};
    double const mean_x = (1 + 0.5 + 0.25 + 0.125) / 4, mean_y = 24.0 / 4;
    double xx = 0.0, xy = 0.0;
    for (ScalingSample const& s : data.samples) {
        xx += std::pow(1 / s.workers - mean_x, 2);
        xy += (1 / s.workers - mean_x) * (s.value - mean_y);
    }
    LawFit const fit = fitted("fixed_communication", data);
    EXPECT_NEAR(coefficient(fit, "b").value, xy / xx, 1e-12);
    EXPECT_NEAR(coefficient(fit, "a").value, mean_y - xy / xx * mean_x, 1e-12);
    EXPECT_NEAR(*fit.ceiling, 1 + xy / xx / (mean_y - xy / xx * mean_x), 1e-12) << "(a + b) / a";
    // the same curve in other coefficients: s = a / (a + b)
    LawFit const amdahl = fitted("amdahl", data);
    double const a = coefficient(fit, "a").value, b = coefficient(fit, "b").value;
    EXPECT_NEAR(coefficient(amdahl, "s").value, a / (a + b), 1e-11);
    EXPECT_NEAR(coefficient(amdahl, "gamma").value, 1 / (a + b), 1e-11);
    EXPECT_NEAR(amdahl.rss, fit.rss, 1e-12);
}

TEST(ScalingFit, FiguresAreThoseOfTheirFormulas) {
    LawFit const fit = fitted("usl", specsdm91());
    double const n = 7, k = 4; // the variance is counted
    EXPECT_NEAR(*fit.aicc, n * std::log(fit.rss / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1), 1e-9);
    double total = 0.0, mean = 0.0, smape = 0.0;
    for (ScalingSample const& s : specsdm91().samples) { mean += s.value / n; }
    for (ScalingSample const& s : specsdm91().samples) {
        double const p = curve_at(fit, specsdm91(), s.workers);
        total += (s.value - mean) * (s.value - mean);
        smape += 200 * std::abs(p - s.value) / (p + s.value) / n;
    }
    EXPECT_NEAR(*fit.adjusted_r2, 1 - (fit.rss / 4) / (total / 6), 1e-12);
    EXPECT_NEAR(fit.smape, smape, 1e-10);
}

// t of 90 % in the middle and one degree of freedom is 6.313752, of two 2.919986: three and four points of a line
TEST(ScalingFit, IntervalsOfALineAreThoseOfStudent) {
    double const t[] = {6.313751514675043, 2.919985580355516};
    for (int const more : {0, 1}) {
        ScalingData data{.samples = {{1, 3}, {2, 5.5}, {3, 6.9}}, .measured = Measured::sync};
        if (more == 1) { data.samples.push_back({4, 9.2}); }
        LawFit const fit = fitted("linear_growth", data);
        for (FittedCoefficient const& one : fit.coefficients) {
            if (one.name == "a") { continue; } // the other is bounded below by 0
            EXPECT_NEAR(*one.high - one.value, t[more] * *one.standard_error, 1e-6 * *one.standard_error) << one.name;
        }
        FittedCoefficient const a = coefficient(fit, "a");
        EXPECT_NEAR(*a.high - a.value, a.value - *a.low, 1.0) << "c at its bound bends one side of it";
    }
}

TEST(ScalingFit, TooFewCountsAreRefusedWithTheNeed) {
    ScalingData two{.samples = {{1, 10}, {2, 6}, {2, 6.1}}, .measured = Measured::seconds};
    EXPECT_NO_THROW(fit_law(*scaling_law("linear"), two, {}));
    try {
        fit_law(*scaling_law("usl"), two, {});
        FAIL();
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::insufficient);
        EXPECT_STREQ(error.what(), "usl: too few measurements (it needs 4 worker counts, there are 2)");
    }
    two.samples.resize(1);
    try {
        fit_scaling(two, {});
        FAIL();
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::insufficient);
        EXPECT_THAT(error.what(), HasSubstr("it needs 2 worker counts"));
    }
}

TEST(ScalingFit, ValuesOfVeryDifferentSizeAreFittedOrLeftOutAndNoFault) {
    for (double const peak : {5.5e10, 1e30, 1e40}) {
        ScalingData const steep{.samples = {{1, 12.5}, {3, peak}, {4, 3.5}}, .measured = Measured::seconds};
        ScalingReport const report = fit_scaling(steep, {});
        EXPECT_EQ(report.fits.front().law->name, std::string_view{"linear"});
        // T = a / K with a = sum(T / K) / sum(1 / K^2)
        double const a = (12.5 + peak / 3.0 + 3.5 / 4.0) / (1.0 + 1.0 / 9.0 + 1.0 / 16.0);
        EXPECT_NEAR(report.fits.front().coefficients.front().value * a, 1.0, 1e-6);
    }
}

TEST(ScalingFit, PointsAboveTheIdealAreAFindingAndNotClamped) {
    ScalingData const data{.samples = {{1, 100}, {2, 210}, {4, 390}, {8, 700}}, .measured = Measured::throughput};
    ScalingReport const report = fit_scaling(data, {});
    ASSERT_FALSE(report.findings.empty());
    EXPECT_EQ(report.findings.front().kind, "superlinear");
    EXPECT_EQ(report.findings.front().workers, 2.0);
    EXPECT_LT(report.karp_flatt->points.front().serial_fraction, 0.0) << "2.1x on 2 workers";
    EXPECT_NEAR(report.karp_flatt->points.front().speedup, 2.1, 1e-12);
}

// e = (1/S - 1/k) / (1 - 1/k): 1.6x on 2 workers is 0.25; over 4 workers where those are the fewest
TEST(ScalingFit, KarpFlattIsOverTheSmallestCount) {
    ScalingData const data{.samples = {{4, 16}, {8, 10}, {16, 6}}, .measured = Measured::seconds};
    KarpFlatt const result = karp_flatt(data);
    EXPECT_EQ(result.baseline, 4.0);
    ASSERT_EQ(result.points.size(), 2U);
    EXPECT_NEAR(result.points[0].speedup, 1.6, 1e-12);
    EXPECT_NEAR(result.points[0].serial_fraction, 0.25, 1e-12);
    EXPECT_EQ(result.trend, "falling") << "0.25 at 8, 1/6 at 16";
    EXPECT_THAT(result.verdict, HasSubstr("two counts only"));
}

TEST(ScalingFit, WeakScalingTurnsTimesIntoRatesOfAGrowingProblem) {
    // X = K / T: 8 workers do 8 times the work in 1.4 times the time; gamma = 1, s = 2/35
    ScalingData data{.samples = {}, .measured = Measured::seconds, .scaling = Scaling::weak};
    for (double const k : {1, 2, 4, 8, 16}) { data.samples.push_back({k, k / (k - 0.05 * (k - 1))}); }
    LawFit const fit = fitted("gustafson", data);
    EXPECT_NEAR(coefficient(fit, "s").value, 0.05, 1e-10);
    EXPECT_NEAR(coefficient(fit, "gamma").value, 1.0, 1e-10);
    ScalingReport const report = fit_scaling(data, {});
    for (LawFit const& one : report.fits) { EXPECT_STRNE(one.law->name, "amdahl") << "a fixed problem"; }
    EXPECT_NEAR(*report.predictions.back().speedup, 64 - 0.05 * 63, 1e-6) << "64 workers";
}

ScalingData synchronisation(double fixed, double linear, double logarithmic) {
    ScalingData data{.samples = {}, .measured = Measured::sync};
    double const wobble[] = {0.3, -0.4, 0.2, 0.1, -0.3, 0.2};
    int i = 0;
    for (double const k : {2, 4, 8, 16, 32, 64}) {
        data.samples.push_back({k, 1e-6 * (fixed + linear * k + logarithmic * std::log2(k) + wobble[i++])});
    }
    return data;
}

TEST(ScalingFit, ChainsAndTreesAreToldApart) {
    SyncGrowth const chain = *fit_scaling(synchronisation(5, 2, 0), {}).sync;
    EXPECT_EQ(chain.growth, "linear");
    EXPECT_GT(chain.aicc_difference, 6.0);
    EXPECT_NEAR(chain.linear_seconds, 133e-6, 1e-6);
    EXPECT_THAT(chain.sentence, HasSubstr("as a chain does"));
    SyncGrowth const tree = *fit_scaling(synchronisation(5, 0, 9), {}).sync;
    EXPECT_EQ(tree.growth, "logarithmic");
    EXPECT_LT(tree.aicc_difference, -6.0);
    EXPECT_NEAR(tree.logarithmic_seconds, 59e-6, 1e-6);
    EXPECT_THAT(tree.sentence, HasSubstr("as a tree does"));
    EXPECT_EQ(fit_scaling(synchronisation(5, 0, 0), {}).sync->growth, "none");
    ScalingData three = synchronisation(5, 1, 0);
    three.samples.resize(3);
    EXPECT_EQ(fit_scaling(three, {}).sync->growth, "unclear") << "one degree of freedom";
}

TEST(ScalingFit, ANewMeasurementNarrowsTheBandAsForetold) {
    ScalingData data = specsdm91();
    LawFit const fit = fitted("usl", data);
    NextMeasurement const next = *next_measurement(fit, data, {}, 432);
    EXPECT_LT(next.band_then, next.band_now);
    EXPECT_NEAR(next.workers, 432, 1e-9);
    // a measurement that lies on the curve changes nothing else
    data.samples.push_back({next.workers, curve_at(fit, data, next.workers)});
    LawFit const after = fitted("usl", data);
    double const target = 432;
    ScalingPrediction const row = predict(after, data, {}, std::span{&target, 1}).front();
    double const band = (*row.curve_high - *row.curve_low) / (2 * row.value);
    EXPECT_LT(band, next.band_now);
    EXPECT_NEAR(band, next.band_then, 0.35 * next.band_then) << "the new error counts as none: narrower than foretold";
}

TEST(ScalingFit, BootstrapsAreSeededAndAgreeWithTheProfile) {
    ScalingData data;
    data.measured = Measured::throughput;
    double const wobble[] = {0.4, -0.9, 0.7, 0.2, -0.5, 0.1, 0.6, -0.6, -0.3, 0.5};
    for (int i = 0; i < 10; ++i) {
        double const k = std::exp2(i);
        data.samples.push_back({k, 100 / (0.05 + 0.95 / k) + 20 * wobble[i]});
    }
    LawFit const profile = fitted("amdahl", data);
    for (Intervals const how : {Intervals::bootstrap, Intervals::bootstrap_pairs}) {
        FitQuestion question;
        question.intervals = how;
        FittedCoefficient const one = coefficient(fitted("amdahl", data, question), "s");
        FittedCoefficient const again = coefficient(fitted("amdahl", data, question), "s");
        EXPECT_EQ(*one.low, *again.low);
        EXPECT_EQ(*one.high, *again.high);
        FittedCoefficient const reference = coefficient(profile, "s");
        double const width = (*one.high - *one.low) / (*reference.high - *reference.low);
        EXPECT_GT(width, 0.5) << name_of(how);
        EXPECT_LT(width, 1.6) << name_of(how);
        question.seed = 2;
        EXPECT_NE(*coefficient(fitted("amdahl", data, question), "s").low, *one.low);
    }
}

} // namespace
} // namespace headroom::fit
