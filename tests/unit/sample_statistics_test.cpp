#include "headroom/error.hpp"
#include "headroom/sample_statistics.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace headroom {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Values = std::vector<double>;

template <class Call> void expect_refusal(Fault fault, std::string const& words, Call call) {
    try {
        call();
        FAIL() << "not refused";
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), fault);
        EXPECT_THAT(error.what(), HasSubstr(words));
    }
}

TEST(Summary, TenSamples) {
    // P(Binomial(10, 1/2) < 2) = 11 / 1024: the second and the ninth cover 1 - 22/1024; the third would cover 1 - 112/1024.
    Values const values{9, 1, 8, 2, 7, 3, 6, 4, 5, 100};
    SampleSummary const summary = summarize(values);
    EXPECT_EQ(summary.count, 10U);
    EXPECT_EQ(summary.least, 1.0);
    EXPECT_EQ(summary.most, 100.0);
    EXPECT_DOUBLE_EQ(summary.mean, 14.5);
    EXPECT_EQ(summary.median, 5.5);
    EXPECT_EQ(summary.low, 2.0);
    EXPECT_EQ(summary.high, 9.0);
    EXPECT_NEAR(summary.coverage, 1.0 - 22.0 / 1024.0, 1e-12);
    // deviations 0.5 0.5 1.5 1.5 2.5 2.5 3.5 3.5 4.5 94.5: their median is 2.5
    EXPECT_NEAR(summary.spread, 1.4826 * 2.5 / 5.5, 1e-12);
}

TEST(Summary, TooFewForTheCoverageSaysWhatItCovers) {
    SampleSummary const five = summarize(Values{5, 4, 3, 2, 1});
    EXPECT_EQ(five.low, 1.0);
    EXPECT_EQ(five.high, 5.0);
    EXPECT_NEAR(five.coverage, 0.9375, 1e-12);
    SampleSummary const six = summarize(Values{6, 5, 4, 3, 2, 1});
    EXPECT_NEAR(six.coverage, 0.96875, 1e-12);
    SampleSummary const one = summarize(Values{3});
    EXPECT_EQ(one.low, 3.0);
    EXPECT_EQ(one.high, 3.0);
    EXPECT_EQ(one.coverage, 0.0);
    EXPECT_EQ(one.spread, 0.0);
}

TEST(Summary, ManySamplesNeedNoFactorialThatIsADouble) {
    Values values(100'000);
    std::iota(values.begin(), values.end(), 1.0);
    SampleSummary const summary = summarize(values);
    // (n - 1.96 sqrt n) / 2 below the median
    EXPECT_NEAR(summary.low, 50'000.5 - 0.5 * 1.96 * std::sqrt(1e5), 2.0);
    EXPECT_NEAR(summary.high, 50'000.5 + 0.5 * 1.96 * std::sqrt(1e5), 2.0);
    EXPECT_GE(summary.coverage, 0.95);
    EXPECT_LT(summary.coverage, 0.9525);
}

TEST(Summary, Refusals) {
    expect_refusal(Fault::insufficient, "too few", [] { summarize(Values{}); });
    expect_refusal(Fault::usage, "finite", [] { summarize(Values{1.0, std::numeric_limits<double>::quiet_NaN()}); });
    expect_refusal(Fault::usage, "coverage", [] { summarize(Values{1.0}, 1.0); });
}

TEST(Drift, NothingBelowEight) { EXPECT_FALSE(find_drift(Values{1, 2, 3, 4, 5, 6, 7})); }

TEST(Drift, RisingWithoutAnException) {
    // One order of 8! rises all the way and one falls: 2 / 40320.
    auto const drift = find_drift(Values{10, 11, 12, 13, 14, 15, 16, 17});
    ASSERT_TRUE(drift);
    EXPECT_NEAR(drift->change, 7.0 / 13.5, 1e-12);
    EXPECT_NEAR(drift->probability, 2.0 / 40320.0, 1e-15);
    auto const falling = find_drift(Values{17, 16, 15, 14, 13, 12, 11, 10});
    EXPECT_NEAR(falling->change, -7.0 / 13.5, 1e-12);
    EXPECT_NEAR(falling->probability, 2.0 / 40320.0, 1e-15);
}

TEST(Drift, EqualSamplesDoNotDrift) {
    auto const drift = find_drift(Values(9, 4.25));
    ASSERT_TRUE(drift);
    EXPECT_EQ(drift->change, 0.0);
    EXPECT_EQ(drift->probability, 1.0);
}

TEST(Drift, TiesByTheNormalDistribution) {
    // 1 1 2 2 3 3 4 4: 24 pairs rise, none falls. variance = (8*7*21 - 4 * 2*1*9) / 18 = 1104 / 18,
    // z = 23 / sqrt(61.33) = 2.9369, two-sided 0.003315
    auto const drift = find_drift(Values{1, 1, 2, 2, 3, 3, 4, 4});
    ASSERT_TRUE(drift);
    EXPECT_NEAR(drift->probability, std::erfc(23.0 / std::sqrt(1104.0 / 18.0) / std::sqrt(2.0)), 1e-12);
    EXPECT_NEAR(drift->probability, 0.003315, 2e-6);
}

TEST(Drift, OneOutlierMovesNothing) {
    Values values{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    values[7] = 1e6;
    EXPECT_NEAR(find_drift(values)->change, 10.0 / 15.0, 0.02);
}

TEST(Comparison, TwoSidesApart) {
    // All of the second above all of the first: 2 of C(8, 4) = 70 choices. All differences are 10 + {-3 ... 3}.
    SampleComparison const found = compare_samples(Values{1, 2, 3, 4}, Values{11, 12, 13, 14});
    EXPECT_EQ(found.shift, 10.0);
    EXPECT_NEAR(found.probability, 2.0 / 70.0, 1e-12);
    EXPECT_EQ(found.low, 7.0); // with 4 and 4, P(U < 1) = 1/70 is the last below 2.5 %: the least and the greatest
    EXPECT_EQ(found.high, 13.0);
    EXPECT_DOUBLE_EQ(found.relative, 4.0);
}

TEST(Comparison, IntervalOfATextbookTable) {
    // Critical value of U for 8 and 10 at 5 %, two-sided: 17. So the interval stands on the 18th of 80 from either end.
    Values first(8), second(10);
    for (std::size_t i = 0; i < 8; ++i) { first[i] = 10.0 * static_cast<double>(i); }
    for (std::size_t i = 0; i < 10; ++i) { second[i] = 3.0 + 7.1 * static_cast<double>(i); }
    Values differences;
    for (double const x : first) {
        for (double const y : second) { differences.push_back(y - x); }
    }
    std::ranges::sort(differences);
    SampleComparison const found = compare_samples(first, second);
    EXPECT_EQ(found.low, differences[17]);
    EXPECT_EQ(found.high, differences[62]);
    EXPECT_DOUBLE_EQ(found.shift, 0.5 * (differences[39] + differences[40]));
}

TEST(Comparison, ManySamplesByTheNormalDistribution) {
    // 40 even and 40 odd numbers, the second 2 apart: U = 40*41/2 + ... counted here; sd = sqrt(40*40*81/12).
    Values first(40), second(40);
    for (std::size_t i = 0; i < 40; ++i) {
        first[i] = 2.0 * static_cast<double>(i);
        second[i] = 2.0 * static_cast<double>(i) + 15.0;
    }
    double below = 0.0; // pairs with first < second
    for (double const x : first) {
        for (double const y : second) { below += x < y ? 1.0 : 0.0; }
    }
    double const z = (std::abs(below - 800.0) - 0.5) / std::sqrt(1600.0 * 81.0 / 12.0);
    EXPECT_NEAR(compare_samples(first, second).probability, std::erfc(z / std::sqrt(2.0)), 1e-12);
}

TEST(Comparison, AllEqual) {
    SampleComparison const found = compare_samples(Values(5, 2.0), Values(6, 2.0));
    EXPECT_EQ(found.shift, 0.0);
    EXPECT_EQ(found.low, 0.0);
    EXPECT_EQ(found.high, 0.0);
    EXPECT_EQ(found.probability, 1.0);
    EXPECT_EQ(found.relative, 0.0);
    EXPECT_EQ(compare_samples(Values(50, 2.0), Values(60, 2.0)).probability, 1.0);
}

TEST(Comparison, Refusals) {
    expect_refusal(Fault::insufficient, "3 are too few", [] { compare_samples(Values{1, 2, 3}, Values{1, 2, 3, 4}); });
    expect_refusal(Fault::insufficient, "3 are too few", [] { compare_ratio(Values{1, 2, 3, 4}, Values{1, 2, 3}); });
    expect_refusal(Fault::usage, "not positive", [] { compare_ratio(Values{1, 2, 3, 0}, Values{1, 2, 3, 4}); });
}

TEST(Ratio, TwiceAsMuch) {
    SampleRatio const found = compare_ratio(Values{1, 2, 4, 8, 16}, Values{2, 4, 8, 16, 32});
    EXPECT_NEAR(found.ratio, 2.0, 1e-12);
    EXPECT_LE(found.low, 2.0);
    EXPECT_GE(found.high, 2.0);
}

TEST(ManyTests, Holm) {
    // 0.01 * 4, then 0.02 * 3, then max(0.06, 0.03 * 2), then max(0.06, 0.5)
    EXPECT_THAT(
        adjusted_for_many(Values{0.5, 0.01, 0.03, 0.02}),
        ElementsAre(DoubleNear(0.5, 1e-15), DoubleNear(0.04, 1e-15), DoubleNear(0.06, 1e-15), DoubleNear(0.06, 1e-15)));
    EXPECT_THAT(adjusted_for_many(Values{0.9, 0.8}), ElementsAre(1.0, 1.0));
    EXPECT_TRUE(adjusted_for_many(Values{}).empty());
}

} // namespace
} // namespace headroom
