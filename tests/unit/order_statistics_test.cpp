#include "headroom/error.hpp"
#include "headroom/order_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace headroom {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class Call> std::string refusal(Call const& call) {
    try {
        call();
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        EXPECT_NE(error.text().hint, "") << error.what();
        return error.what();
    }
    return "accepted";
}

TEST(ExpectedMaximumNormal, HasClosedFormsForFew) {
    // Expectation: one number has mean 0, exactly; of two the larger is 1/sqrt(pi) above it, of three 3/(2 sqrt(pi)).
    EXPECT_EQ(expected_maximum_normal(Ranks{1}), 0.0);
    EXPECT_NEAR(expected_maximum_normal(Ranks{2}), std::numbers::inv_sqrtpi, 1e-14);
    EXPECT_NEAR(expected_maximum_normal(Ranks{3}), 1.5 * std::numbers::inv_sqrtpi, 1e-14);
    // Expected maximum of five: 5/(2 sqrt(pi)) (1/2 + 3/pi asin(1/3)).
    double const five = 2.5 * std::numbers::inv_sqrtpi * (0.5 + 3.0 * std::numbers::inv_pi * std::asin(1.0 / 3.0));
    EXPECT_NEAR(expected_maximum_normal(Ranks{5}), five, 1e-14);
}

TEST(ExpectedMaximumNormal, IsExactUpToTenMillion) {
    // Expectation: the integral at 30 digits, by an independent quadrature.
    EXPECT_NEAR(expected_maximum_normal(Ranks{64}), 2.34373346507943995, 1e-12);
    EXPECT_NEAR(expected_maximum_normal(Ranks{1000}), 3.24143576913344086, 1e-12);
    EXPECT_NEAR(expected_maximum_normal(Ranks{16384}), 3.97135057028064024, 1e-12);
    EXPECT_NEAR(expected_maximum_normal(Ranks{100000}), 4.38431940310758811, 1e-12);
    EXPECT_NEAR(expected_maximum_normal(Ranks{1000000}), 4.86289748619646272, 1e-12);
    EXPECT_NEAR(expected_maximum_normal(Ranks{10000000}), 5.30095401017332460, 1e-12);
}

TEST(ExpectedMaximumExponential, IsTheHarmonicNumber) {
    // Expectation: the first of k waits ends after 1/k, the next after 1/(k-1) more, ...; four sum to 25/12.
    EXPECT_EQ(expected_maximum_exponential(Ranks{1}), 1.0);
    EXPECT_DOUBLE_EQ(expected_maximum_exponential(Ranks{4}), 25.0 / 12.0);
    // The sum and the series meet: H_64 = H_63 + 1/64.
    EXPECT_NEAR(expected_maximum_exponential(Ranks{64}) - expected_maximum_exponential(Ranks{63}), 1.0 / 64.0, 1e-15);
    EXPECT_NEAR(expected_maximum_exponential(Ranks{1000}), 7.485470860550345, 1e-14);
}

TEST(ProbabilityAnySlow, KeepsItsDigits) {
    // Expectation: one in a hundred, a hundred times: 1 - 0.99^100 = 0.634.
    EXPECT_NEAR(probability_any_slow(0.01, Ranks{100}), 0.6339676587, 1e-10);
    EXPECT_DOUBLE_EQ(probability_any_slow(0.25, Ranks{1}), 0.25);
    EXPECT_EQ(probability_any_slow(0.0, Ranks{100}), 0.0);
    EXPECT_EQ(probability_any_slow(1.0, Ranks{100}), 1.0);
    // Far below the distance of 1 to its neighbour the sum of the probabilities remains: 1000 x 1e-20.
    EXPECT_DOUBLE_EQ(probability_any_slow(1e-20, Ranks{1000}), 1e-17);
}

TEST(ProbabilityAnySlow, RefusesWhatIsNoShare) {
    EXPECT_EQ(refusal([] { probability_any_slow(1.5, Ranks{2}); }),
              "probability of a slow rank: above one. give 0 to 1, e.g. 0.01");
    EXPECT_NE(refusal([] { probability_any_slow(-0.1, Ranks{2}); }), "accepted");
    EXPECT_NE(refusal([] { probability_any_slow(not_a_number, Ranks{2}); }), "accepted");
}

TEST(SlowestOverMean, IsOnePlusSpreadTimesMaximum) {
    // Expectation: 2 % of spread over 512 ranks: the slowest of a step is 0.02 x 3.0439 = 6.1 % above the mean.
    EXPECT_NEAR(slowest_over_mean(0.02, Ranks{512}), 1.060878, 1e-6);
    EXPECT_EQ(slowest_over_mean(0.02, Ranks{1}), 1.0);
    EXPECT_EQ(slowest_over_mean(0.0, Ranks{512}), 1.0);
    EXPECT_NE(refusal([] { slowest_over_mean(-0.02, Ranks{2}); }), "accepted");
    EXPECT_NE(refusal([] { slowest_over_mean(infinity, Ranks{2}); }), "accepted");
}

TEST(LargestOverMean, IsByHowMuchTheFullestRankExceeds) {
    // Expectation: 4 of a mean of 2 is twice; a step takes as long as if all had 4.
    EXPECT_EQ(largest_over_mean(std::vector{1.0, 1.0, 4.0, 2.0}), 2.0);
    EXPECT_EQ(largest_over_mean(std::vector{7.0}), 1.0);
    EXPECT_EQ(largest_over_mean(std::vector{0.1, 0.1, 0.1}), 1.0);       // exactly, whatever 0.1 is in binary
    EXPECT_EQ(largest_over_mean(std::vector{0.0, 0.0, 3.0}), 3.0);       // one has everything
    EXPECT_EQ(largest_over_mean(std::vector{1e308, 1e308, 1e308}), 1.0); // no overflow
}

TEST(LargestOverMean, SaysWhichRankIsWrong) {
    EXPECT_EQ(refusal([] { largest_over_mean({}); }),
              "work of the ranks: empty. give one amount of work for each rank, e.g. 1 1 1.2 1");
    EXPECT_EQ(refusal([] {
                  largest_over_mean(std::vector{0.0, 0.0});
              }),
              "work of the ranks: all zero (nothing has no largest part). "
              "give one amount of work for each rank, e.g. 1 1 1.2 1");
    EXPECT_EQ(refusal([] {
                  largest_over_mean(std::vector{1.0, -1.0});
              }),
              "work of rank 1: below zero. give one amount of work for each rank, e.g. 1 1 1.2 1");
    EXPECT_NE(refusal([] { largest_over_mean(std::vector{infinity}); }), "accepted");
    EXPECT_NE(refusal([] { largest_over_mean(std::vector{not_a_number}); }), "accepted");
}

TEST(ExpectedImbalance, AveragesOutOverSequences) {
    // Expectation: lengths spread by 80 %, 16 summed on each of 64 ranks: 1 + 0.8/4 x 2.3437 = 1.469.
    EXPECT_NEAR(expected_imbalance(0.8, 16, Ranks{64}), 1.46875, 1e-5);
    EXPECT_EQ(expected_imbalance(0.8, 16, Ranks{1}), 1.0);
    EXPECT_EQ(expected_imbalance(0.0, 16, Ranks{64}), 1.0);
    EXPECT_EQ(expected_imbalance(1e6, 1, Ranks{64}), 64.0); // no rank holds more than everything
    EXPECT_EQ(refusal([] { expected_imbalance(0.8, 0.5, Ranks{64}); }),
              "sequences of a rank: below one. give the sequences that a rank sums in a step, at least 1");
}

} // namespace
} // namespace headroom
