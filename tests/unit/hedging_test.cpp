#include "support/latencies.hpp"
#include "support/random.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/fan_out.hpp"
#include "headroom/serving/queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

using test::CounterRandom;
using test::Enumerated;

std::vector<double> six() { return test::on_cells({1.0, 1.25, 1.5, 2.0, 9.0, 30.0}); }

LatencyHistogram slow_now_and_then(int count) {
    LatencyHistogram samples;
    CounterRandom random{17};
    for (int i = 0; i < count; ++i) {
        samples.record(i % 50 == 0 ? 20.0 * random.exponential() : random.exponential());
    }
    return samples;
}

/// Each sample as the histogram holds it, in order.
std::vector<double> held(LatencyHistogram const& samples) {
    std::vector<double> values;
    samples.each([&](LatencyHistogram::Cell const& cell) { values.insert(values.end(), cell.count, cell.value); });
    return values;
}

TEST(HedgedRequest, IsWhatAllPairsGive) {
    // Expectation: over 36 equally likely pairs the first answer, and the time that servers are busy: the whole of both
    // copies, or each until the first answer.
    LatencyHistogram const samples = test::histogram_of(six());
    for (double const delay : {0.0, 0.5, 1.0, 1.25, 3.0, 8.0, 50.0}) {
        Enumerated first;
        double twice = 0.0, whole = 0.0, stopped = 0.0, alone = 0.0;
        test::each_tuple(six(), 2, [&](std::vector<double> const& drawn) {
            bool const sent = drawn[0] > delay;
            double const answer = std::min(drawn[0], delay + drawn[1]);
            first.add(answer);
            twice += sent ? 1.0 : 0.0;
            alone += drawn[0];
            whole += drawn[0] + (sent ? drawn[1] : 0.0);
            stopped += answer + (sent ? answer - delay : 0.0);
        });
        Hedge const found = hedged_request(samples, delay);
        EXPECT_NEAR(found.mean, first.mean(), 1e-12 * first.mean()) << delay;
        EXPECT_EQ(found.p50, first.quantile(0.5)) << delay;
        EXPECT_EQ(found.p99, first.quantile(0.99)) << delay;
        EXPECT_EQ(found.p999, first.quantile(0.999)) << delay;
        EXPECT_NEAR(found.extra_load, twice / 36.0, 1e-13) << delay;
        EXPECT_NEAR(found.extra_work, whole / alone - 1.0, 1e-12) << delay;
        EXPECT_NEAR(found.extra_work_cancelled, stopped / alone - 1.0, 1e-12) << delay;
        EXPECT_EQ(found.kind, SecondCopy::hedged);
    }
}

TEST(HedgedRequest, IsWhatDrawingGives) {
    // Expectation: 200,000 draws, each quantile within four standard errors of the share that it stands for.
    LatencyHistogram const samples = slow_now_and_then(10'000);
    double const delay = samples.quantile(0.95);
    Hedge const found = hedged_request(samples, delay);
    CounterRandom random{23};
    std::vector<double> const values = held(samples);
    auto const draw = [&] { return values[static_cast<std::size_t>(random.below(10'000))]; };
    constexpr int runs = 200'000;
    double above_p99 = 0.0, above_p999 = 0.0, sum = 0.0;
    for (int run = 0; run < runs; ++run) {
        double const one = draw(), answer = one > delay ? std::min(one, delay + draw()) : one;
        above_p99 += answer > found.p99 ? 1.0 : 0.0;
        above_p999 += answer > found.p999 ? 1.0 : 0.0;
        sum += answer;
    }
    EXPECT_NEAR(above_p99 / runs, 0.01, 4.0 * std::sqrt(0.01 / runs));
    EXPECT_NEAR(above_p999 / runs, 0.001, 4.0 * std::sqrt(0.001 / runs));
    EXPECT_NEAR(sum / runs, found.mean, 0.02 * found.mean);
    EXPECT_NEAR(found.extra_load, 0.05, 1e-3);
    EXPECT_LT(found.p999, 0.5 * samples.quantile(0.999));
}

TEST(HedgingChoices, PutTheBestFirst) {
    LatencyHistogram const samples = slow_now_and_then(20'000);
    std::array const delays{0.0, 0.5, 0.9, 0.95, 0.99};
    for (double const judged_by : {0.5, 0.99, 0.999}) {
        auto const choices = hedging_choices(samples, delays, judged_by);
        ASSERT_EQ(choices.size(), delays.size());
        // Sending at once is never worse, and costs a whole copy of each.
        EXPECT_EQ(choices.front().delay_quantile, 0.0);
        EXPECT_EQ(choices.front().extra_load, 1.0);
    }
    auto const by_p99 = hedging_choices(samples, delays, 0.99);
    for (std::size_t i = 1; i < by_p99.size(); ++i) {
        EXPECT_LE(by_p99[i - 1].p99, by_p99[i].p99);
        EXPECT_NEAR(by_p99[i].extra_load, 1.0 - by_p99[i].delay_quantile, 2e-3);
    }
    std::array const wrong{1.5};
    EXPECT_THROW(hedging_choices(samples, wrong, 0.99), InputError);
    EXPECT_THROW(hedging_choices(samples, delays, 2.0), InputError);
}

TEST(TiedRequest, IsWhatAllDrawsGive) {
    // Expectation: over all triples (W, W', S) the start is the earlier one, and both run where they start within the
    // time of a message.
    std::vector<double> const waits = test::on_cells({0.0, 0.0, 0.25, 1.0, 6.0}), services = six();
    LatencyHistogram const waiting = test::histogram_of(waits), serving = test::histogram_of(services);
    for (double const delay : {0.0, 0.5}) {
        for (double const message : {0.0, 0.125, 2.0}) {
            Enumerated latency;
            double both = 0.0;
            for (double const w : waits) {
                for (double const other : waits) {
                    both += std::abs(w - delay - other) < message ? 1.0 : 0.0;
                    for (double const s : services) { latency.add(std::min(w, delay + other) + s); }
                }
            }
            Hedge const found = tied_request(waiting, serving, delay, message);
            EXPECT_NEAR(found.mean, latency.mean(), 1e-12 * latency.mean());
            EXPECT_NEAR(found.p50, latency.quantile(0.5), 1e-12 * found.p50);
            EXPECT_NEAR(found.p99, latency.quantile(0.99), 1e-12 * found.p99);
            EXPECT_NEAR(found.p999, latency.quantile(0.999), 1e-12 * found.p999);
            EXPECT_NEAR(found.extra_work, both / 25.0, 1e-13) << delay << ' ' << message;
            EXPECT_EQ(found.kind, SecondCopy::tied);
        }
    }
}

TEST(TiedRequest, IsWhatDrawingGives) {
    // Expectation: 100,000 draws of two waits of a queue at 70 % load, which is idle with 30 %.
    LatencyHistogram waits, services;
    CounterRandom random{31};
    for (int i = 0; i < 20'000; ++i) {
        waits.record(random.uniform() < 0.3 ? 0.0 : random.exponential() / 0.3);
        services.record(random.exponential());
    }
    Hedge const found = tied_request(waits, services, 0.02, 0.05);
    std::vector<double> const waited = held(waits), served = held(services);
    auto const draw = [&](std::vector<double> const& of) { return of[static_cast<std::size_t>(random.below(20'000))]; };
    constexpr int runs = 100'000;
    double above = 0.0, sum = 0.0, both = 0.0;
    for (int run = 0; run < runs; ++run) {
        double const first = draw(waited), second = 0.02 + draw(waited);
        double const latency = std::min(first, second) + draw(served);
        both += std::abs(first - second) < 0.05 ? 1.0 : 0.0;
        above += latency > found.p99 ? 1.0 : 0.0;
        sum += latency;
    }
    EXPECT_NEAR(above / runs, 0.01, 4.0 * std::sqrt(0.01 / runs));
    EXPECT_NEAR(sum / runs, found.mean, 0.02 * found.mean);
    EXPECT_NEAR(both / runs, found.extra_work, 4.0 * std::sqrt(found.extra_work / runs));
    EXPECT_LE(found.extra_work_cancelled, found.extra_work);
}

TEST(TiedRequest, OfLatenciesAloneIsTheFirstOfTwo) {
    // Expectation: where all variation is of queues the earlier start is the earlier answer, without any work more.
    LatencyHistogram const samples = test::histogram_of(six());
    Hedge const tied = tied_request(samples), hedged = hedged_request(samples, 0.0);
    EXPECT_NEAR(tied.mean, hedged.mean, 1e-12 * hedged.mean);
    EXPECT_NEAR(tied.p50, hedged.p50, 1e-12 * hedged.p50);
    EXPECT_NEAR(tied.p99, hedged.p99, 1e-12 * hedged.p99);
    EXPECT_EQ(tied.extra_work, 0.0);
    EXPECT_EQ(tied_request(samples, 100.0).p99, 100.0) << "nothing waits where the service takes longer than all";
}

TEST(HedgeLoad, GrowsTheWaitOfAll) {
    // Expectation: M/M/1 waits are rho / (1 - rho): from 0.5 to 0.525 they grow by 0.525 / 0.475.
    Hedge const hedge{.extra_load = 0.05, .extra_work = 0.05};
    HedgeLoad const load = hedge_load(hedge, 0.5);
    EXPECT_DOUBLE_EQ(load.utilization, 0.525);
    EXPECT_TRUE(load.stable);
    EXPECT_NEAR(load.wait_growth, 0.525 / 0.475, 1e-12);
    EXPECT_NEAR(hedge_load(hedge, 0.5, 4).wait_growth,
                erlang_c(2.1, 4) / (4.0 - 2.1) / (erlang_c(2.0, 4) / (4.0 - 2.0)), 1e-12);
    HedgeLoad const full = hedge_load({.extra_work = 1.0}, 0.6, 8);
    EXPECT_FALSE(full.stable);
    EXPECT_TRUE(std::isinf(full.wait_growth));
    EXPECT_EQ(hedge_load(hedge, 0.0).wait_growth, 1.0);
    EXPECT_THROW(hedge_load(hedge, 1.0), InputError);
    EXPECT_THROW(hedge_load(hedge, -0.1), InputError);
    EXPECT_THROW(hedge_load(hedge, 0.5, 0), InputError);
}

TEST(HedgedRequest, RefusesWhatIsNoDelay) {
    LatencyHistogram const samples = test::histogram_of(six());
    EXPECT_THROW(hedged_request(samples, -1.0), InputError);
    EXPECT_THROW(hedged_request(samples, std::numeric_limits<double>::infinity()), InputError);
    EXPECT_THROW(hedged_request(samples, std::numeric_limits<double>::quiet_NaN()), InputError);
    EXPECT_THROW(hedged_request(LatencyHistogram{}, 1.0), InputError);
    EXPECT_THROW(tied_request(samples, samples, -1.0), InputError);
    EXPECT_THROW(tied_request(samples, LatencyHistogram{}), InputError);
}

} // namespace
} // namespace headroom
