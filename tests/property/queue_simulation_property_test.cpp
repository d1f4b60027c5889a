// Laws that a simulated queue keeps, and what its dispatch and its second copies do.

#include "serving/queueing/drawn_times.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/queue_simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

constexpr std::array all_dispatches{Dispatch::shared_line, Dispatch::random, Dispatch::round_robin,
                                    Dispatch::two_choices, Dispatch::shortest_line};

/// Services of a second.
QueueExperiment experiment_of(double rho, int servers, Dispatch dispatch = Dispatch::shared_line) {
    return {.gaps = {.mean = Seconds{1.0 / (rho * servers)}},
            .service = {.mean = Seconds{1.0}},
            .shape = {.servers = servers},
            .dispatch = dispatch,
            .duration = Seconds{20'000.0 / servers},
            .warm_up = Seconds{500.0}};
}

/// Half of an interval by Student's t of 31 degrees, five errors wide: less than once in 40,000 by chance.
double five_errors(SimulatedMean const& mean) { return 5.0 / 2.04 * 0.5 * (mean.high - mean.low); }

// ---- Little's law --------------------------------------------------------------------------------------------------

TEST(QueueSimulationProperty, LittlesLawOfLinesAndServers) {
    for (Dispatch const dispatch : all_dispatches) {
        for (double const rho : {0.3, 0.8}) {
            for (int const batch : {1, 4}) {
                QueueExperiment experiment = experiment_of(rho, 6, dispatch);
                experiment.shape.batch = batch;
                experiment.shape.batch_growth = 0.1;
                SimulatedQueue const run = simulate_queue(experiment);
                double const through = static_cast<double>(run.requests) / experiment.duration.base();
                double const waiting = through * run.wait_seconds.value;
                // Both ends of the window count requests that the other side does not: a line or so of 3,300 services.
                EXPECT_NEAR(run.waiting.value, waiting, 0.02 * waiting + 0.005) << name_of(dispatch);
                if (batch > 1) { continue; }
                double const served = run.latency_seconds.value - run.wait_seconds.value;
                EXPECT_NEAR(run.utilization.value * 6.0, through * served, 0.02) << name_of(dispatch);
            }
        }
    }
}

TEST(QueueSimulationProperty, HistogramsAreTheRequests) {
    SimulatedQueue const run = simulate_queue(experiment_of(0.9, 3));
    EXPECT_EQ(run.latency.count(), run.requests);
    EXPECT_EQ(run.wait.count(), run.requests);
    EXPECT_NEAR(run.latency.mean(), run.latency_seconds.value, 1e-3 * run.latency_seconds.value);
    EXPECT_NEAR(run.wait.mean(), run.wait_seconds.value, 1e-3 * run.wait_seconds.value);
    EXPECT_NEAR(run.wait.share_above(1e-12), run.wait_probability.value, 1e-9);
    EXPECT_GE(run.events, 2 * run.requests);
    EXPECT_TRUE(run.stable);
    EXPECT_FALSE(simulate_queue(experiment_of(1.1, 3)).stable);
}

TEST(QueueSimulationProperty, SeedsAreAllThatDiffers) {
    for (Dispatch const dispatch : all_dispatches) {
        QueueExperiment experiment = experiment_of(0.8, 5, dispatch);
        experiment.duration = Seconds{500.0};
        SimulatedQueue const first = simulate_queue(experiment), again = simulate_queue(experiment);
        EXPECT_EQ(first.latency, again.latency);
        EXPECT_EQ(first.wait_seconds.high, again.wait_seconds.high);
        EXPECT_EQ(first.events, again.events);
        experiment.seed = 2;
        EXPECT_NE(first.latency, simulate_queue(experiment).latency);
    }
}

TEST(QueueSimulationProperty, ThreadsGiveTheSameBits) {
    Executor const threads = [](int count, std::function<void(int)> const& task) {
        std::vector<std::thread> running;
        for (int i = count; i-- > 0;) { running.emplace_back(task, i); }
        for (std::thread& thread : running) { thread.join(); }
    };
    for (Dispatch const dispatch : all_dispatches) {
        for (int const servers : {1, 3, 8, 21}) {
            QueueExperiment experiment = experiment_of(0.8, servers, dispatch);
            experiment.duration = Seconds{100'000.0 / servers}; // several times what lines take at once
            SimulatedQueue const alone = simulate_queue(experiment), together = simulate_queue(experiment, threads);
            ASSERT_EQ(alone.latency, together.latency);
            ASSERT_EQ(alone.requests, together.requests);
            ASSERT_EQ(alone.events, together.events);
            ASSERT_EQ(alone.waiting.value, together.waiting.value);
            ASSERT_EQ(alone.wait_seconds.low, together.wait_seconds.low);
            ASSERT_EQ(alone.utilization.high, together.utilization.high);
        }
    }
}

// ---- dispatch ------------------------------------------------------------------------------------------------------

TEST(QueueSimulationProperty, TheMoreDispatchKnowsTheShorterTheWait) {
    std::vector<double> waits;
    for (Dispatch const dispatch : {Dispatch::shared_line, Dispatch::shortest_line, Dispatch::two_choices,
                                    Dispatch::round_robin, Dispatch::random}) {
        waits.push_back(simulate_queue(experiment_of(0.8, 10, dispatch)).wait_seconds.value);
    }
    EXPECT_TRUE(std::ranges::is_sorted(waits));
}

TEST(QueueSimulationProperty, ALineOfOnesOwnByChanceIsAQueueOfOneServer) {
    SimulatedMean const wait = simulate_queue(experiment_of(0.7, 20, Dispatch::random)).wait_seconds;
    EXPECT_NEAR(wait.value, 0.7 / 0.3, five_errors(wait));
}

/// In turn, gaps are sums of c gaps: c_a^2 is 1/c.
TEST(QueueSimulationProperty, InTurnIsAQueueOfEvenArrivals) {
    QueueExperiment alone = experiment_of(0.7, 1);
    alone.gaps.variation = 0.05;
    SimulatedMean const one = simulate_queue(alone).wait_seconds;
    SimulatedMean const turn = simulate_queue(experiment_of(0.7, 20, Dispatch::round_robin)).wait_seconds;
    EXPECT_NEAR(one.value, turn.value, five_errors(one) + five_errors(turn));
}

// ---- second copies -------------------------------------------------------------------------------------------------

TEST(QueueSimulationProperty, AHedgeCutsTheTailOfALightLoad) {
    QueueExperiment experiment = experiment_of(0.2, 10, Dispatch::random);
    experiment.service.variation = 4.0;
    SimulatedQueue const alone = simulate_queue(experiment);
    experiment.hedge_after = Seconds{alone.latency.quantile(0.95)};
    SimulatedQueue const hedged = simulate_queue(experiment);
    EXPECT_LT(hedged.latency.quantile(0.999), 0.7 * alone.latency.quantile(0.999));
    EXPECT_EQ(alone.hedged, 0U);
    double const share = static_cast<double>(hedged.hedged) / static_cast<double>(hedged.requests);
    EXPECT_GT(share, 0.03);
    EXPECT_LT(share, 0.07);
    EXPECT_GT(hedged.utilization.value, alone.utilization.value);
}

TEST(QueueSimulationProperty, AHedgeThatNeverComesChangesNothing) {
    for (Dispatch const dispatch :
         {Dispatch::random, Dispatch::round_robin, Dispatch::two_choices, Dispatch::shortest_line}) {
        QueueExperiment experiment = experiment_of(0.8, 8, dispatch);
        experiment.duration = Seconds{300.0};
        SimulatedQueue const alone = simulate_queue(experiment);
        experiment.hedge_after = Seconds{1e6};
        SimulatedQueue const hedged = simulate_queue(experiment);
        EXPECT_EQ(hedged.hedged, 0U);
        EXPECT_EQ(hedged.requests, alone.requests);
        EXPECT_NEAR(hedged.latency_seconds.value, alone.latency_seconds.value, 1e-9 * alone.latency_seconds.value);
    }
}

/// Tied copies of all requests to two of two lines: whichever is free first serves, as from one line, since the other copy
/// goes when a service begins.
TEST(QueueSimulationProperty, TiedCopiesToAllLinesAreOneLine) {
    QueueExperiment experiment = experiment_of(0.8, 2, Dispatch::random);
    experiment.hedge_after = Seconds{0.0};
    experiment.tied = true;
    SimulatedQueue const tied = simulate_queue(experiment);
    double const closed =
        queue_answer({.arrivals_per_second = 1.6, .service = Seconds{1.0}}, {.servers = 2}).wait.base();
    EXPECT_NEAR(tied.wait_seconds.value, closed, five_errors(tied.wait_seconds));
    EXPECT_NEAR(tied.utilization.value, 0.8, five_errors(tied.utilization));
}

// ---- intervals -----------------------------------------------------------------------------------------------------

/// At least 91 % of 300 seeds' intervals hold the true mean: those of 95 % would fail so but once in 10^3.
TEST(QueueSimulationProperty, IntervalsHoldTheMeanAsOftenAsTheySay) {
    constexpr int seeds = 300;
    for (double const rho : {0.5, 0.8}) {
        int held = 0;
        for (int seed = 1; seed <= seeds; ++seed) {
            QueueExperiment experiment = experiment_of(rho, 1);
            experiment.seed = static_cast<std::uint64_t>(seed);
            SimulatedMean const wait = simulate_queue(experiment).wait_seconds;
            double const closed = rho / (1.0 - rho);
            held += wait.low <= closed && closed <= wait.high ? 1 : 0;
        }
        EXPECT_GE(held, seeds * 91 / 100) << rho;
        EXPECT_LT(held, seeds) << rho << ": wider than they need be";
    }
}

/// Latencies of M/M/1 are exponential of mean s / (1 - rho).
TEST(QueueSimulationProperty, IntervalsHoldQuantilesAsOftenAsTheySay) {
    constexpr int seeds = 200;
    constexpr std::array quantiles{0.5, 0.99};
    for (auto const& [rho, requests] : {std::pair{0.5, 20'000.0}, std::pair{0.8, 100'000.0}}) {
        std::array<int, quantiles.size()> held{};
        for (int seed = 1; seed <= seeds; ++seed) {
            QueueExperiment experiment = experiment_of(rho, 1);
            experiment.duration = Seconds{requests / rho};
            experiment.seed = static_cast<std::uint64_t>(seed);
            SimulatedQueue const run = simulate_queue(experiment);
            for (std::size_t i = 0; i < quantiles.size(); ++i) {
                SimulatedQuantile const found = simulated_quantile(run, quantiles[i]);
                double const low = found.low.value_or(0.0), high = found.high.value_or(1e300);
                double const closed = -std::log1p(-quantiles[i]) / (1.0 - rho);
                EXPECT_LE(low, found.value);
                EXPECT_GE(high, found.value);
                held[i] += low <= closed && closed <= high ? 1 : 0;
            }
        }
        for (int const count : held) {
            EXPECT_GE(count, seeds * 90 / 100) << rho; // of 95 %, once in 10^3 by chance
            EXPECT_LT(count, seeds) << rho << ": wider than they need be";
        }
    }
}

TEST(QueueSimulationProperty, BatchesAreAllRequests) {
    for (Dispatch const dispatch : all_dispatches) {
        SimulatedQueue const run = simulate_queue(experiment_of(0.8, 5, dispatch));
        LatencyHistogram all;
        for (LatencyHistogram const& batch : run.batches) { all.merge(batch); }
        EXPECT_EQ(run.batches.size(), 32U);
        EXPECT_EQ(all, run.latency);
        EXPECT_EQ(all.count(), run.requests);
        SimulatedQuantile const far = simulated_quantile(run, 1.0 - 0.2 / static_cast<double>(run.requests));
        EXPECT_FALSE(far.high);
        EXPECT_THROW(simulated_quantile(run, 1.0), InputError);
    }
    QueueExperiment even = experiment_of(0.5, 1); // always the same, and nobody waits
    even.gaps.variation = even.service.variation = 0.0;
    SimulatedQuantile const same = simulated_quantile(simulate_queue(even), 0.5);
    EXPECT_EQ(same.low, same.value);
    EXPECT_EQ(same.high, same.value);
}

// ---- drawn times ---------------------------------------------------------------------------------------------------

TEST(QueueSimulationProperty, DrawnTimesHaveTheirMoments) {
    LatencyHistogram seen;
    for (double const value : {1.0, 2.0, 2.0, 11.0}) { seen.record(value); }
    for (double const variation : {0.0, 0.1, 0.7, 1.0, 3.0, -1.0}) { // the last: from samples
        DrawnTimes times{.mean = Seconds{2.0}, .variation = std::max(variation, 0.0)};
        if (variation < 0.0) { times.samples = &seen; }
        queueing::TimeSource const source{times, "times"};
        CounterRandom random{3};
        constexpr int count = 400'000;
        double sum = 0.0, squares = 0.0;
        for (int i = 0; i < count; ++i) {
            double const drawn = source.draw(random);
            sum += drawn, squares += drawn * drawn;
        }
        double const mean = sum / count, found = squares / count / (mean * mean) - 1.0;
        double const wanted = variation < 0.0 ? 16.5 / 16.0 : variation; // variance 16.5 around 4
        EXPECT_NEAR(mean, 2.0, 5.0 * 2.0 * std::sqrt(wanted / count) + 1e-3) << variation;
        EXPECT_NEAR(found, wanted, 0.03 * wanted + 1e-9) << variation;
    }
}

// ---- what cannot be ------------------------------------------------------------------------------------------------

template <class Change> void expect_usage(Change const& change) {
    QueueExperiment experiment = experiment_of(0.5, 2, Dispatch::random);
    change(experiment);
    try {
        simulate_queue(experiment);
        ADD_FAILURE() << "nothing was thrown";
    } catch (InputError const& error) { EXPECT_EQ(error.fault(), Fault::usage) << error.what(); }
}

TEST(QueueSimulationProperty, RefusesWhatCannotBeSimulated) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), endless = std::numeric_limits<double>::infinity();
    LatencyHistogram empty;
    for (double const bad : {0.0, -1.0, nan, endless}) {
        expect_usage([&](QueueExperiment& e) { e.gaps.mean = Seconds{bad}; });
        expect_usage([&](QueueExperiment& e) { e.service.mean = Seconds{bad}; });
        expect_usage([&](QueueExperiment& e) { e.duration = Seconds{bad}; });
        if (bad == 0.0) { continue; }
        expect_usage([&](QueueExperiment& e) { e.warm_up = Seconds{bad}; });
        expect_usage([&](QueueExperiment& e) { e.service.variation = bad; });
        expect_usage([&](QueueExperiment& e) { e.hedge_after = Seconds{bad}; });
    }
    expect_usage([](QueueExperiment& e) { e.shape.servers = 0; });
    expect_usage([](QueueExperiment& e) { e.shape.places = 1; });
    expect_usage([](QueueExperiment& e) { e.shape.servers = 20'000'000; });
    expect_usage([](QueueExperiment& e) { e.batches = 7; });
    expect_usage([](QueueExperiment& e) { e.duration = Seconds{1e11}; });
    expect_usage([](QueueExperiment& e) { e.gaps.mean = Seconds{1e-7}, e.duration = Seconds{900.0}; });
    expect_usage([&](QueueExperiment& e) { e.service.samples = &empty; });
    expect_usage([](QueueExperiment& e) { e.hedge_after = Seconds{1.0}, e.dispatch = Dispatch::shared_line; });
    expect_usage([](QueueExperiment& e) { e.hedge_after = Seconds{1.0}, e.shape.servers = 1; });
}

TEST(QueueSimulationProperty, DispatchesHaveNamesOfTheirOwn) {
    std::set<std::string_view> names;
    for (Dispatch const dispatch : all_dispatches) { names.insert(name_of(dispatch)); }
    EXPECT_EQ(names.size(), all_dispatches.size());
}

} // namespace
} // namespace headroom
