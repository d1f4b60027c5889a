#pragma once

#include "headroom/quantity.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace headroom {

// ---- what queues ---------------------------------------------------------------------------------------------------

/// Requests that arrive, and what serving one takes.
struct QueueLoad {
    double arrivals_per_second = 0.0; ///< lambda
    double arrival_variation = 1.0;   ///< c_a^2: squared coefficient of variation of gaps; 1: Poisson
    Seconds service;                  ///< 1/mu, mean
    double service_variation = 1.0;   ///< c_s^2; 1: exponential, 0: always the same
};

/// Who serves: alike servers behind one line, first come, first served.
struct QueueShape {
    int servers = 1;                ///< c
    std::optional<int> places = {}; ///< K: waiting or served at most, more are turned away; empty: any number
    int batch = 1;                  ///< served together by one server, in the time that `batch_growth` says
    double batch_growth = 0.0; ///< service of n together over that of one: 1 + growth (n - 1); 0: a batch takes as one
};

/// How a figure came about.
enum class QueueMethod {
    exact,         ///< M/M/c, M/M/c/K, M/G/1: no approximation
    allen_cunneen, ///< G/G/c
    batches,       ///< batch service, as its function says
};
std::string_view name_of(QueueMethod method);

/// What a queue settles to.
struct QueueAnswer {
    bool stable = true;       ///< else all times are infinite, and the queue grows
    double utilization = 0.0; ///< rho = lambda / (c mu), of what is let in
    double wait_probability = 0.0;
    double blocked = 0.0; ///< share that finds no place
    double throughput_per_second = 0.0;
    Seconds wait, latency;               ///< means: in the line; until served
    double waiting = 0.0, present = 0.0; ///< L_q and L, by Little's law
    QueueMethod method = QueueMethod::exact;
};

// ---- closed forms --------------------------------------------------------------------------------------------------

/// Probability that all c servers are taken and a request is turned away, offered load a = lambda / mu (Erlang B):
///
///     B(0) = 1,  B(c) = a B(c-1) / (c + a B(c-1))
///
/// Errors: InputError{usage} on a negative load or number, as for Erlang C.
/// Source: [Kleinrock1975]
double erlang_b(double offered_load, int servers);
/// Probability that a request waits (Erlang C): B / (1 - rho (1 - B)); 1 where a >= c.
///
/// c = 4, a = 3.2: 0.5964; c = 8, a = 6.8: 0.5726.
/// Source: [Kleinrock1975]
double erlang_c(double offered_load, int servers);

/// Means of the queue.
///
///     M/M/c     W_q = C(c, a) / (c mu - lambda)
///     M/M/c/K   from the birth-death chain
///     M/G/1     W_q = rho / (1 - rho) (1 + c_s^2) / 2 / mu                    (Pollaczek-Khinchine)
///     G/G/c     W_q = C(c, a) / (c mu - lambda) (c_a^2 + c_s^2) / 2           (Allen-Cunneen)
///     batches   see the implementation's note; the mean batch grows with the load
///
/// Errors: InputError{usage} on figures that are negative or not finite, a service of zero, no server, fewer places than
///         servers.
/// Source: [Kleinrock1975], [AllenCunneen1978], [NeutsBatch1967]
QueueAnswer queue_answer(QueueLoad const& load, QueueShape const& shape);

/// A quantile of the time until served, q in (0, 1).
///
///     M/M/c     P(T > t) of an exponential service after a wait that is 0 with 1 - C, else exponential of rate c mu - lambda
///     others    the wait with its probability and conditional mean as exponential, convolved with a gamma service of the
///               same mean and c_s^2: an approximation, and `queue_simulation.hpp` shows by how much it errs
///
/// Infinite where the queue is not stable.
/// Source: [Kleinrock1975]
Seconds latency_quantile(QueueLoad const& load, QueueShape const& shape, double q);

// ---- how many, and how far ----------------------------------------------------------------------------------------

/// An objective: a share q of requests is served within a time, and at most a share is turned away.
struct LatencyObjective {
    double q = 0.99;
    Seconds latency;
    double blocked = 0.0;
};

/// The fewest servers that keep it, by bisection over a monotone function; nothing where no number does, since the service
/// alone takes longer.
std::optional<int> servers_for(QueueLoad const& load, QueueShape shape, LatencyObjective const& objective,
                               int most = 1'000'000);

/// One load on the throughput-latency curve.
struct LoadPoint {
    double arrivals_per_second = 0.0;
    QueueAnswer answer;
    Seconds p50, p99;
};
/// From nearly idle to nearly full, at these utilizations.
std::vector<LoadPoint> load_curve(QueueLoad const& load, QueueShape const& shape, std::span<double const> utilizations);

/// The load at which power, throughput over latency, is greatest: beyond it latency grows faster than throughput.
///
/// M/M/1: half of capacity.
/// Source: [Kleinrock1979]
LoadPoint knee(QueueLoad const& load, QueueShape const& shape);

/// What twice the servers change: behind one line, or as two lines of half the load each; and at the same load for each
/// server (twice the traffic).
struct Doubling {
    LoadPoint now, shared_line, own_lines, twice_traffic;
    Seconds service_p99; ///< below it no number of servers brings the p99
};
Doubling doubling(QueueLoad const& load, QueueShape const& shape);

} // namespace headroom
