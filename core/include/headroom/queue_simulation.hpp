#pragma once

#include "headroom/executor.hpp"
#include "headroom/latency_histogram.hpp"
#include "headroom/queue.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace headroom {

/// Where a request goes that finds several replicas, each with a line of its own.
enum class Dispatch {
    shared_line, ///< one line before all
    random,
    round_robin,
    two_choices, ///< the shorter of two lines chosen at random
    shortest_line,
};
std::string_view name_of(Dispatch dispatch);

/// How times are drawn: by mean and squared coefficient of variation.
///
///     0: always the mean;  below 1: gamma;  1: exponential;  above 1: gamma, or from samples where some are given
struct DrawnTimes {
    Seconds mean;
    double variation = 1.0;
    LatencyHistogram const* samples = nullptr; ///< drawn from instead, with replacement, scaled to the mean
};

struct QueueExperiment {
    DrawnTimes gaps, service;
    QueueShape shape;
    Dispatch dispatch = Dispatch::shared_line;
    std::optional<Seconds> hedge_after =
        {}; ///< a second copy to another line; the loser is withdrawn where it still waits
    Seconds duration{3600.0};
    Seconds warm_up; ///< not counted
    std::uint64_t seed = 1;
    int batches = 32; ///< for intervals, by batch means
};

/// A mean with the interval that 95 % of repeats fall into, by batch means.
struct SimulatedMean {
    double value = 0.0, low = 0.0, high = 0.0;
};

struct SimulatedQueue {
    std::uint64_t requests = 0, blocked = 0, hedged = 0;
    SimulatedMean wait_seconds, latency_seconds, utilization, wait_probability, waiting;
    LatencyHistogram latency, wait;
    std::uint64_t events = 0;
};

/// A discrete-event simulation of the queue, request by request; the same seed gives the same bits.
/// Errors:     as queue_answer; InputError{usage} above 10^10 expected requests.
/// Source:     [LawKelton2000] (batch means)
SimulatedQueue simulate_queue(QueueExperiment const& experiment);

} // namespace headroom
