#include "support/latencies.hpp"
#include "support/random.hpp"

#include "headroom/error.hpp"
#include "headroom/order_statistics.hpp"
#include "headroom/serving/fan_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

using test::CounterRandom;
using test::Enumerated;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::vector<double> seven() { return test::on_cells({1.0, 1.5, 1.5, 2.0, 3.0, 5.0, 40.0}); }

template <class Call> Fault fault_of(Call const& call) {
    try {
        call();
    } catch (InputError const& error) { return error.fault(); }
    ADD_FAILURE() << "no error";
    return Fault::usage;
}

TEST(FanOut, IsWhatAllWaysToDrawGive) {
    // Expectation: of 7^K equally likely draws with replacement the greatest, its mean and its quantiles.
    LatencyHistogram const samples = test::histogram_of(seven());
    for (int k = 1; k <= 5; ++k) {
        Enumerated slowest;
        double slow = 0.0;
        test::each_tuple(seven(), k, [&](std::vector<double> const& drawn) {
            slowest.add(std::ranges::max(drawn));
            slow += slowest.values.back() > 4.0 ? 1.0 : 0.0;
        });
        FanOut const found = fan_out(samples, Ranks{k}, 4.0);
        EXPECT_NEAR(found.mean, slowest.mean(), 1e-12 * slowest.mean()) << k;
        EXPECT_EQ(found.p50, slowest.quantile(0.5)) << k;
        EXPECT_EQ(found.p90, slowest.quantile(0.9)) << k;
        EXPECT_EQ(found.p99, slowest.quantile(0.99)) << k;
        EXPECT_EQ(found.p999, slowest.quantile(0.999)) << k;
        EXPECT_NEAR(found.probability_slow, slow / std::pow(7.0, k), 1e-13) << k;
        Enumerated one;
        for (double const value : seven()) { one.add(value); }
        EXPECT_NEAR(found.slowdown, slowest.mean() / one.mean(), 1e-12) << k;
    }
}

TEST(FanOut, OfOneIsTheSamplesThemselves) {
    LatencyHistogram samples;
    CounterRandom random{11};
    for (int i = 0; i < 12'345; ++i) { samples.record(0.01 * random.exponential()); }
    FanOut const one = fan_out(samples, Ranks{1}, 0.02);
    EXPECT_EQ(one.p50, samples.quantile(0.5));
    EXPECT_EQ(one.p90, samples.quantile(0.9));
    EXPECT_EQ(one.p99, samples.quantile(0.99));
    EXPECT_EQ(one.p999, samples.quantile(0.999));
    EXPECT_NEAR(one.mean, samples.mean(), 1e-6 * samples.mean());
    EXPECT_EQ(one.slowdown, 1.0);
    EXPECT_NEAR(one.probability_slow, samples.share_above(0.02), 1e-12);
    EXPECT_FALSE(one.p99_beyond_samples);
}

TEST(FanOut, SaysHowOftenOneIsSlow) {
    // Expectation: one in a hundred slow and a hundred workers: 63.4 %; one in a thousand and 4096: 98.3 %.
    LatencyHistogram samples;
    samples.record(1.0, 99'000);
    samples.record(10.0, 900);
    samples.record(100.0, 100);
    EXPECT_NEAR(fan_out(samples, Ranks{100}, 5.0).probability_slow, 0.634, 5e-5);
    EXPECT_NEAR(fan_out(samples, Ranks{4096}, 50.0).probability_slow, 0.9834, 5e-5);
    EXPECT_EQ(fan_out(samples, Ranks{4096}, infinity).probability_slow, 0.0);
    EXPECT_EQ(fan_out(samples, Ranks{3}, 0.5).probability_slow, 1.0);
}

TEST(FanOut, FlagsWhatRestsOnMoreThanTheSamplesShow) {
    // Expectation: 0.99^(1/K) > 1 - 1/n from K = ln(0.99) / ln(1 - 1/n) on: of 1000 samples, 10.05.
    LatencyHistogram samples;
    for (int i = 1; i <= 1000; ++i) { samples.record(i); }
    EXPECT_FALSE(fan_out(samples, Ranks{10}, 1.0).p99_beyond_samples);
    EXPECT_TRUE(fan_out(samples, Ranks{11}, 1.0).p99_beyond_samples);
    // The slowest of ten million workers is the greatest sample: nothing else is known.
    FanOut const many = fan_out(samples, Ranks{10'000'000}, 1.0);
    EXPECT_EQ(many.mean, 1000.0);
    EXPECT_EQ(many.p50, 1000.0);
    EXPECT_NEAR(many.beyond_samples, 1.0, 1e-12);
    FanOut const one = fan_out(samples, Ranks{1}, 1.0);
    EXPECT_NEAR(one.beyond_samples, 1000.0 / (1000.0 * 1001.0 / 2.0), 1e-6);
}

TEST(FanOut, RefusesWhatIsNoQuestion) {
    LatencyHistogram const none, one = test::histogram_of({1.0});
    EXPECT_EQ(fault_of([&] { fan_out(none, Ranks{2}, 1.0); }), Fault::insufficient);
    EXPECT_EQ(fault_of([&] { fan_out(one, Ranks{2}, not_a_number); }), Fault::usage);
    TailDistribution const tail{.family = TailFamily::pareto_tail, .a = 1.0, .b = 0.1, .share_beyond = 0.1};
    EXPECT_EQ(fault_of([&] { fan_out(tail, Ranks{2}, 1.0); }), Fault::usage);
    TailDistribution const flat{.family = TailFamily::normal, .a = 1.0, .b = 0.0};
    EXPECT_EQ(fault_of([&] { fan_out(flat, Ranks{2}, 1.0); }), Fault::usage);
    TailDistribution const no_number{.family = TailFamily::weibull, .a = not_a_number, .b = 1.0};
    EXPECT_EQ(fault_of([&] { expected_maximum(no_number, Ranks{2}); }), Fault::usage);
    EXPECT_EQ(fault_of([&] { quantile_for_each(1.5, Ranks{2}); }), Fault::usage);
    EXPECT_EQ(fault_of([&] { expected_maximum(one, Ranks{2}); }), Fault::insufficient);
}

TEST(FanOut, OfEqualOrZeroSamplesIsThese) {
    LatencyHistogram samples;
    samples.record(0.0, 10);
    FanOut const nothing = fan_out(samples, Ranks{100}, 0.0);
    EXPECT_EQ(nothing.mean, 0.0);
    EXPECT_EQ(nothing.slowdown, 1.0);
    EXPECT_EQ(nothing.probability_slow, 0.0);
    LatencyHistogram same;
    same.record(0.3, 7);
    EXPECT_EQ(fan_out(same, Ranks{100}, 0.2).mean, 0.3);
    EXPECT_EQ(fan_out(same, Ranks{100}, 0.2).p999, 0.3);
}

TEST(ExpectedMaximum, WithoutReplacementIsWhatAllSubsetsGive) {
    LatencyHistogram const samples = test::histogram_of(seven());
    for (int k = 1; k <= 7; ++k) {
        Enumerated greatest;
        test::each_subset(seven(), k, [&](std::vector<double> const& drawn) { greatest.add(std::ranges::max(drawn)); });
        EXPECT_NEAR(expected_maximum(samples, Ranks{k}), greatest.mean(), 1e-12 * greatest.mean()) << k;
    }
}

TEST(ExpectedMaximum, WithoutReplacementKeepsItsDigitsForMany) {
    // Expectation: of 1 ... n without replacement K (n + 1) / (K + 1), exactly; cells of width w put the middle w/2 off.
    LatencyHistogram samples;
    constexpr int n = 1'000'000;
    for (int i = 1; i <= n; ++i) { samples.record(i); }
    for (int k : {1, 2, 63, 64, 65, 1000, 50'000, 999'999, n}) {
        double const expected = k * (n + 1.0) / (k + 1.0);
        EXPECT_NEAR(expected_maximum(samples, Ranks{k}), expected, 1e-3 * expected) << k;
    }
    // Whole numbers from 1024 to 2047 have cells of their own, whose middles are half a number above them.
    LatencyHistogram few;
    for (int i = 1024; i < 2048; ++i) { few.record(i, 1000); }
    EXPECT_NEAR(expected_maximum(few, Ranks{1}), 1535.5 + 0.5, 1e-3);
}

TEST(FanOut, OfAFittedTailGoesOnWhereSamplesEnd) {
    // Expectation: samples of an exponential up to its threshold and the exponential beyond are the exponential: H_K.
    LatencyHistogram samples;
    constexpr int n = 1'000'000;
    for (int i = 0; i < n; ++i) { samples.record(-std::log((i + 0.5) / n)); }
    double const threshold = LatencyHistogram::cell_of(2.0).low;
    TailDistribution const tail{.family = TailFamily::pareto_tail,
                                .a = 1.0,
                                .b = 0.0,
                                .threshold = threshold,
                                .share_beyond = samples.share_above(threshold)};
    TailDistribution const whole{.family = TailFamily::exponential, .a = 0.0, .b = 1.0};
    for (int k : {1, 10, 1000, 100'000, 10'000'000}) {
        FanOut const found = fan_out(samples, tail, Ranks{k}, 5.0), exact = fan_out(whole, Ranks{k}, 5.0);
        EXPECT_NEAR(found.mean, exact.mean, 1e-4 * exact.mean) << k;
        EXPECT_NEAR(found.p50, exact.p50, 1e-3 * exact.p50) << k;
        EXPECT_NEAR(found.p999, exact.p999, 1e-3 * exact.p999) << k;
        EXPECT_NEAR(found.slowdown, exact.slowdown, 1e-3 * exact.slowdown) << k;
        EXPECT_NEAR(found.probability_slow, exact.probability_slow, 1e-4) << k;
        FanOut const bare = fan_out(samples, Ranks{k}, 5.0);
        EXPECT_EQ(found.p99_beyond_samples, bare.p99_beyond_samples) << k;
        if (k == 10'000'000) { EXPECT_LT(bare.mean, exact.mean - 1.0); }
    }
    // Contribution beyond one sample of a million: a little of the mean of ten, nearly all of ten million.
    EXPECT_LT(fan_out(samples, tail, Ranks{10}, 5.0).beyond_samples, 1e-4);
    EXPECT_GT(fan_out(samples, tail, Ranks{10'000'000}, 5.0).beyond_samples, 0.999);
}

TEST(FanOut, HasNoMeanWhereTheTailHasNone) {
    LatencyHistogram samples;
    for (int i = 1; i <= 1000; ++i) { samples.record(i); }
    TailDistribution const tail{.family = TailFamily::pareto_tail,
                                .a = 100.0,
                                .b = 1.2,
                                .threshold = 900.0,
                                .share_beyond = samples.share_above(900.0)};
    FanOut const found = fan_out(samples, tail, Ranks{100}, 5.0);
    EXPECT_EQ(found.mean, infinity);
    EXPECT_EQ(found.slowdown, infinity);
    EXPECT_EQ(found.beyond_samples, 1.0);
    EXPECT_TRUE(std::isfinite(found.p999));
}

TEST(QuantileForEach, IsTheRoot) {
    EXPECT_DOUBLE_EQ(quantile_for_each(0.99, Ranks{1}), 0.99);
    EXPECT_NEAR(std::pow(quantile_for_each(0.99, Ranks{1000}), 1000.0), 0.99, 1e-12);
}

} // namespace
} // namespace headroom
