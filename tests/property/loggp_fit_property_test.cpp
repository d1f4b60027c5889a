// LogGP out of trains that were made from known constants: exact where there is no noise, and within the stated intervals as
// often as they say where there is.

#include "headroom/error.hpp"
#include "headroom/fit/loggp_fit.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

namespace headroom::fit {

using namespace headroom::network;

namespace {

struct Truth {
    double L = 0.0, o = 0.0, O = 0.0, g = 0.0, G = 0.0;
    [[nodiscard]] double lone(double s) const { return 2.0 * (L + 2.0 * (o + s * O) + (s - 1.0) * G); }
    [[nodiscard]] double dense(double s, int n) const { return lone(s) + (n - 1) * (g + (s - 1.0) * G); }
    [[nodiscard]] double paced(double s, int n) const { return lone(s) + (n - 1) * (o + s * O); }
};

constexpr int messages = 16;

/// Times have a floor and a tail, as real ones: an exponential share of the time on top of it.
std::vector<MessageTrain> trains_of(Truth const& truth, double noise, int repeats, unsigned seed) {
    std::mt19937 random{seed};
    std::exponential_distribution<double> tail{1.0};
    std::vector<MessageTrain> trains;
    for (double const s : {1.0, 64.0, 1024.0, 8192.0, 32768.0}) {
        for (int i = 0; i < repeats; ++i) {
            // around its median, which is what the fit takes
            auto const noisy = [&](double seconds) {
                return Seconds{seconds * (1.0 + noise * (tail(random) - std::log(2.0)))};
            };
            trains.push_back({Bytes{s}, 1, false, noisy(truth.lone(s))});
            trains.push_back({Bytes{s}, messages, false, noisy(truth.dense(s, messages))});
            trains.push_back({Bytes{s}, messages, true, noisy(truth.paced(s, messages))});
        }
    }
    return trains;
}

bool covers(Fitted const& fitted, double truth) { return fitted.low <= truth && truth <= fitted.high; }

RC_GTEST_PROP(LogGpFit, ConstantsComeBackWhereThereIsNoNoise, ()) {
    auto const between = [](double low, double high) {
        return low + (high - low) * *rc::gen::inRange(0, 1001) / 1000.0;
    };
    Truth const truth{between(1e-6, 1e-4), between(1e-7, 1e-5), between(1e-12, 1e-10), between(1e-6, 1e-5),
                      between(1e-10, 1e-8)};
    LogGpFit const fit = fit_loggp(trains_of(truth, 0.0, 2, 1), {.resamples = 5});
    auto const near = [](double found, double expected, double of) { return std::abs(found - expected) <= 1e-7 * of; };
    RC_ASSERT(near(fit.latency_seconds.value, truth.L, truth.lone(1.0)));
    RC_ASSERT(near(fit.overhead_seconds.value, truth.o, truth.lone(1.0)));
    RC_ASSERT(near(fit.gap_seconds.value, truth.g, truth.lone(1.0)));
    RC_ASSERT(near(fit.gap_seconds_per_byte.value, truth.G, truth.lone(32768.0) / 32768.0));
    RC_ASSERT(near(fit.overhead_seconds_per_byte.value, truth.O, truth.lone(32768.0) / 32768.0));
    RC_ASSERT(fit.median_relative_error < 1e-6);
    LogGp const model = fit.model();
    RC_ASSERT(model.latency.base() == fit.latency_seconds.value &&
              model.gap_byte.base() == fit.gap_seconds_per_byte.value);
}

TEST(LogGpFit, IntervalsCoverTheTruthAsOftenAsTheySay) {
    Truth const truth{20e-6, 2e-6, 2e-11, 3e-6, 1e-9};
    constexpr int tries = 200;
    int latency = 0, overhead = 0, gap = 0, gap_byte = 0;
    double width = 0.0;
    for (unsigned seed = 1; seed <= tries; ++seed) {
        LogGpFit const fit = fit_loggp(trains_of(truth, 0.03, 25, seed), {.resamples = 200, .seed = seed});
        latency += covers(fit.latency_seconds, truth.L);
        overhead += covers(fit.overhead_seconds, truth.o);
        gap += covers(fit.gap_seconds, truth.g);
        gap_byte += covers(fit.gap_seconds_per_byte, truth.G);
        width += (fit.gap_seconds_per_byte.high - fit.gap_seconds_per_byte.low) / truth.G / tries;
    }
    // 90 % are promised; the bootstrap of a median of 25 is right within some percent, 200 tries within 2.1 each way
    for (int const hits : {latency, overhead, gap, gap_byte}) {
        EXPECT_GE(hits, 0.83 * tries);
        EXPECT_LE(hits, 0.99 * tries); // and they are no wider than they must be
    }
    EXPECT_LT(width, 0.1);
}

TEST(LogGpFit, TwoSizesWithAllKindsOfTrainsAreNeeded) {
    std::vector<MessageTrain> trains = trains_of({20e-6, 2e-6, 0.0, 3e-6, 1e-9}, 0.0, 3, 1);
    std::erase_if(trains, [](MessageTrain const& one) { return one.paced && one.size > Bytes{1.0}; });
    EXPECT_THROW(static_cast<void>(fit_loggp(trains)), InputError);
    EXPECT_THROW(static_cast<void>(fit_loggp({})), InputError);
}

TEST(LogGpFit, ANetworkThatIsNoneOfLogGpIsToldSo) {
    std::vector<MessageTrain> trains = trains_of({20e-6, 2e-6, 0.0, 3e-6, 1e-9}, 0.0, 8, 1);
    for (MessageTrain& one : trains) { // a protocol that costs ten times as much from 1 KiB on
        if (one.size >= Bytes{1024.0}) { one.time = one.time * 10.0; }
    }
    EXPECT_FALSE(fit_loggp(trains).notes.empty());
    EXPECT_TRUE(fit_loggp(trains_of({20e-6, 2e-6, 1e-12, 3e-6, 1e-9}, 0.01, 8, 1)).notes.empty());
}

} // namespace
} // namespace headroom::fit
