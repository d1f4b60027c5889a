// Closed forms of queues against their simulation, over loads, servers, places and variations of service.
//
// Each case is simulated `repeats` times with seeds of their own, from an empty queue through a warm-up of ten times the
// time in which an M/M/c queue forgets, and the mean of the repeats has to lie within Student's interval that leaves it out
// but once in a million. Some 550 figures are compared: with other seeds one run in two thousand would fail by chance alone.

#include "headroom/serving/queue_simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

constexpr int repeats = 20;
constexpr double once_in_a_million = 7.07; ///< Student's t of 19 degrees of freedom

struct Repeated {
    double mean = 0.0, error = 0.0; ///< standard, of the mean
};

Repeated repeated(std::vector<SimulatedQueue> const& runs, std::function<double(SimulatedQueue const&)> const& figure) {
    Repeated result;
    for (SimulatedQueue const& run : runs) { result.mean += figure(run) / repeats; }
    double squares = 0.0;
    for (SimulatedQueue const& run : runs) { squares += std::pow(figure(run) - result.mean, 2.0); }
    result.error = std::sqrt(squares / (repeats - 1.0) / repeats);
    return result;
}

/// Requests that arrive until the queue has forgotten how it began: the slowest rate of M/M/1 is mu (1 - sqrt(rho))^2.
double memory(double rho, int servers) {
    rho = std::min(rho, 1.0);
    return rho / std::pow(std::max(1.0 - std::sqrt(rho), 0.02), 2.0) + 3.0 * servers;
}

std::vector<SimulatedQueue> runs_of(QueueLoad const& load, QueueShape const& shape, double variations = 1.0) {
    double const full = 1.0 + shape.batch_growth * (shape.batch - 1.0);
    double const rho = load.arrivals_per_second * load.service.base() * full / (shape.servers * shape.batch);
    double requests = variations * memory(rho, shape.servers);
    if (shape.places) { requests = std::min(requests, 10.0 * *shape.places); }
    double const forgets = requests / load.arrivals_per_second;
    QueueExperiment experiment{
        .gaps = {.mean = Seconds{1.0 / load.arrivals_per_second}, .variation = load.arrival_variation},
        .service = {.mean = load.service, .variation = load.service_variation},
        .shape = shape,
        .duration = Seconds{3000.0 / load.arrivals_per_second + 10.0 * forgets},
        .warm_up = Seconds{10.0 * forgets}};
    std::vector<SimulatedQueue> runs;
    for (int seed = 1; seed <= repeats; ++seed) {
        experiment.seed = static_cast<std::uint64_t>(seed);
        runs.push_back(simulate_queue(experiment));
    }
    return runs;
}

std::string words(QueueLoad const& load, QueueShape const& shape) {
    return "lambda " + std::to_string(load.arrivals_per_second) + ", c " + std::to_string(shape.servers) + ", K " +
           (shape.places ? std::to_string(*shape.places) : "any") + ", b " + std::to_string(shape.batch) + ", c_s^2 " +
           std::to_string(load.service_variation);
}

/// Probability below which an event is too rare for Student's interval: once in 10^4 requests, mostly not seen at all.
constexpr double rare = 1e-4;

void expect_within(double closed, Repeated const& seen, std::string const& what) {
    if (closed < rare) {
        EXPECT_LT(seen.mean, 3.0 * rare) << what;
        return;
    }
    EXPECT_LE(std::abs(closed - seen.mean), once_in_a_million * seen.error + 1e-12)
        << what << ": closed form " << closed << ", simulated " << seen.mean << " +- " << seen.error;
}

double blocked_share(SimulatedQueue const& run) {
    return static_cast<double>(run.blocked) / static_cast<double>(run.blocked + run.requests);
}

void expect_all(QueueLoad const& load, QueueShape const& shape) {
    QueueAnswer const answer = queue_answer(load, shape);
    ASSERT_EQ(answer.method, QueueMethod::exact);
    std::vector<SimulatedQueue> const runs = runs_of(load, shape, 0.5 * (1.0 + load.service_variation));
    std::string const what = words(load, shape);
    auto const seen = [&](auto const& figure) { return repeated(runs, figure); };
    expect_within(answer.wait.base(), seen([](auto const& run) { return run.wait_seconds.value; }), "wait, " + what);
    expect_within(answer.latency.base(), seen([](auto const& run) { return run.latency_seconds.value; }),
                  "latency, " + what);
    expect_within(answer.wait_probability, seen([](auto const& run) { return run.wait_probability.value; }),
                  "waits, " + what);
    expect_within(answer.utilization, seen([](auto const& run) { return run.utilization.value; }), "busy, " + what);
    expect_within(answer.waiting, seen([](auto const& run) { return run.waiting.value; }), "line, " + what);
    if (shape.places) { expect_within(answer.blocked, seen(blocked_share), "blocked, " + what); }
}

QueueLoad load_of(double rho, int servers, double variation = 1.0) {
    return {.arrivals_per_second = rho * servers, .service = Seconds{1.0}, .service_variation = variation};
}

TEST(QueueSimulation, ServersBehindOneLine) {
    for (double const rho : {0.1, 0.5, 0.8, 0.95}) {
        for (int const servers : {1, 4, 16, 64}) { expect_all(load_of(rho, servers), {.servers = servers}); }
    }
}

TEST(QueueSimulation, OneServerOfAnyServiceTime) {
    for (double const rho : {0.1, 0.5, 0.8, 0.95}) {
        for (double const variation : {0.0, 0.3, 2.5}) { expect_all(load_of(rho, 1, variation), {}); }
    }
}

TEST(QueueSimulation, Places) {
    for (double const rho : {0.5, 0.95, 1.0, 1.5}) {
        for (int const servers : {1, 4, 64}) {
            for (int const more : {0, 5}) {
                expect_all(load_of(rho, servers), {.servers = servers, .places = servers + more});
            }
        }
        for (double const variation : {0.0, 0.3, 2.5}) { expect_all(load_of(rho, 1, variation), {.places = 6}); }
    }
}

TEST(QueueSimulation, BatchesOfOneServerOfAnyServiceTime) {
    for (double const rho : {0.2, 0.7, 0.9}) {
        for (double const growth : {0.0, 0.05, 0.3}) {
            for (double const variation : {0.0, 0.4, 1.0, 2.0}) {
                double const capacity = 8.0 / (1.0 + 7.0 * growth);
                expect_all(load_of(rho * capacity, 1, variation), {.batch = 8, .batch_growth = growth});
            }
        }
    }
}

TEST(QueueSimulation, BatchesWithoutGrowth) {
    for (double const rho : {0.1, 0.5, 0.9}) {
        for (int const servers : {1, 8}) { expect_all(load_of(rho * 6.0, servers), {.servers = servers, .batch = 6}); }
    }
}

// ---- approximations are what they are ----------------------------------------------------------------------------

/// The largest error of a mean wait, of the mean latency, over cases; printed, so that the guide's figures can be seen.
struct Errors {
    double of_wait = 0.0, of_latency = 0.0;
};

Errors errors_of(QueueLoad const& load, QueueShape const& shape) {
    QueueAnswer const answer = queue_answer(load, shape);
    std::vector<SimulatedQueue> const runs = runs_of(load, shape);
    double const wait = repeated(runs, [](auto const& run) { return run.wait_seconds.value; }).mean;
    double const latency = repeated(runs, [](auto const& run) { return run.latency_seconds.value; }).mean;
    Errors const errors{answer.wait.base() / wait - 1.0, answer.latency.base() / latency - 1.0};
    std::cout << name_of(answer.method) << ", " << words(load, shape) << ", c_a^2 " << load.arrival_variation
              << ": wait " << answer.wait.base() << " simulated " << wait << " (" << 100.0 * errors.of_wait
              << " %), latency " << 100.0 * errors.of_latency << " %\n";
    return errors;
}

TEST(QueueSimulation, AllenAndCunneenErrLittleWhereMostWait) {
    for (double const rho : {0.5, 0.8, 0.95}) {
        for (int const servers : {1, 8}) {
            for (double const arrivals : {0.3, 1.0, 2.0}) {
                for (double const service : {0.0, 0.5, 2.0}) {
                    QueueLoad load = load_of(rho, servers, service);
                    load.arrival_variation = arrivals;
                    if (queue_answer(load, {.servers = servers}).method == QueueMethod::exact) { continue; }
                    Errors const errors = errors_of(load, {.servers = servers});
                    EXPECT_LE(std::abs(errors.of_latency), 0.15);
                    if (rho > 0.9) { EXPECT_LE(std::abs(errors.of_wait), 0.25); }
                }
            }
        }
    }
}

TEST(QueueSimulation, BatchesOfSeveralServersErrByTwoFifthsAtMost) {
    for (double const rho : {0.3, 0.6, 0.9}) {
        for (int const servers : {2, 8}) {
            for (double const growth : {0.05, 0.3}) {
                for (double const service : {0.0, 0.5, 1.0, 2.0}) {
                    QueueShape const shape{.servers = servers, .batch = 8, .batch_growth = growth};
                    QueueLoad const load = load_of(rho * 8.0 / (1.0 + 7.0 * growth), servers, service);
                    EXPECT_LE(std::abs(errors_of(load, shape).of_latency), 0.4);
                }
            }
        }
    }
}

} // namespace
} // namespace headroom
