#pragma once

#include "headroom/executor.hpp"
#include "headroom/serving/latency_histogram.hpp"
#include "headroom/serving/queue.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

namespace headroom::serving {

/// Where a request goes that finds several replicas, each with a line of its own.
enum class Dispatch {
    shared_line, ///< one line before all
    random,
    round_robin,
    two_choices, ///< the shorter of two lines chosen at random
    shortest_line,
};
inline constexpr std::array dispatches{Dispatch::shared_line, Dispatch::random, Dispatch::round_robin,
                                       Dispatch::two_choices, Dispatch::shortest_line};
std::string_view name_of(Dispatch dispatch);

/// Distribution of times that are drawn: by mean and squared coefficient of variation.
///
///     0: always the mean;  below 1: gamma;  1: exponential;  above 1: gamma, or from samples where some are given
struct DrawnTimes {
    Seconds mean = {};
    double variation = 1.0;
    LatencyHistogram const* samples = nullptr; ///< drawn from instead, with replacement, scaled to the mean
};

/// Queue to simulate: requests of these gaps arrive, each is served by one of the replicas, `shape.servers` in number.
struct QueueExperiment {
    DrawnTimes gaps = {}, service = {};
    QueueShape shape = {}; ///< places: of all lines together; a batch is of one line
    Dispatch dispatch = Dispatch::shared_line;
    /// Time after which, without an answer, a second copy goes to another line: withdrawn where it still waits when the
    /// other is answered. Needs lines of their own.
    std::optional<Seconds> hedge_after = {};
    bool tied = false;        ///< of two copies the one that waits is withdrawn when the other's service begins
    Seconds duration{3600.0}; ///< in which arrivals are counted; they stop after it, and all that are there are served
    Seconds warm_up = {};     ///< before it, not counted
    std::uint64_t seed = 1;
    int batches = 32; ///< for intervals, by batch means: 8 or more
    std::stop_token stop = {};
};

/// A mean with the interval that the true one lies in 95 times of 100, by batch means.
///
/// The counted time is cut into equal batches, which must be long against the time in which the queue forgets how long it
/// was: some 100 requests a batch at half of capacity, 3,000 at 0.9, and with 1/(1 - rho)^2 more nearer to it. Where they
/// are not, neighbouring batches are alike, and the interval is widened by what an autoregressive series of that
/// correlation needs; what else is missing, no interval tells. Of an M/M/1 queue's waits, 32 batches hold the mean 95 times
/// of 100 with 20,000 requests at 0.5 and with 100,000 at 0.9; with 20,000 at 0.9 88 times, with 100,000 at 0.95 90 times.
/// A warm-up of a batch or more keeps the empty queue of the beginning out.
struct SimulatedMean {
    double value = 0.0, low = 0.0, high = 0.0;
};

struct SimulatedQueue {
    bool stable = true;         ///< whether servers can do what arrives; else figures depend on the duration
    std::uint64_t requests = 0; ///< counted and served
    std::uint64_t blocked = 0;  ///< counted and turned away
    std::uint64_t hedged = 0;   ///< of those served: second copies
    SimulatedMean wait_seconds, latency_seconds, utilization;
    SimulatedMean wait_probability, waiting; ///< of requests; copies in lines, over time
    SimulatedMean blocked_share;             ///< of those that arrived
    LatencyHistogram latency, wait;          ///< seconds, each request once
    std::uint64_t events = 0;                ///< arrivals, ends of services and second copies, counted or not
    std::vector<LatencyHistogram> batches;   ///< latencies, batch by batch
};

/// A quantile of simulated latencies, and the interval that the true one lies in 95 times of 100; an end is missing where
/// so few requests are beyond it that none of them tells where it is.
struct SimulatedQuantile {
    double value = 0.0;
    std::optional<double> low, high;
};

/// By batch means of the share that the quantile is not exceeded by:
///
///     [x(q - h), x(q + h)],   h half the interval of F(x(q))
///
/// Assumes:    as `SimulatedMean`: batches long against the queue's memory. Of an M/M/1 queue's latencies, 32 batches hold
///             p50 and p99 92 to 97 times of 100 with 20,000 requests at 0.5 and with 100,000 at 0.8.
/// Errors:     InputError{usage} for a quantile outside (0, 1); InputError{insufficient} where nothing was served.
/// Source:     [LawKelton2000]
SimulatedQuantile simulated_quantile(SimulatedQueue const& run, double q);

/// A discrete-event simulation of the queue, request by request; the same seed gives the same bits.
///
/// At one time services end before requests arrive. A request that finds a server of its line free is served at once, and
/// alone; a server that becomes free takes up to `shape.batch` of its line, for one drawn time by their growth. Lines that
/// know nothing of each other (random, in turn) are simulated side by side where there is an executor, to the same bits.
/// Errors:     as queue_answer, but for batches with places; InputError{usage} above 10^10 expected requests, or where more
///             than 10^8 would wait; fewer than 8 batches; hedging without a second line.
/// Source:     [LawKelton2000] (batch means)
/// Errors: Interrupted once a stop was requested.
SimulatedQueue simulate_queue(QueueExperiment const& experiment, Executor const& executor = {});

} // namespace headroom::serving
