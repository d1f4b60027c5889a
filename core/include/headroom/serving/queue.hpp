#pragma once

#include "headroom/quantity.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace headroom {
struct FieldTable;
} // namespace headroom

namespace headroom::serving {

// ---- what queues ---------------------------------------------------------------------------------------------------

/// Requests that arrive, and what serving one takes.
struct QueueLoad {
    double arrivals_per_second = 0.0; ///< lambda
    double arrival_variation = 1.0;   ///< c_a^2: squared coefficient of variation of gaps; 1: Poisson
    Seconds service = {};             ///< 1/mu, mean
    double service_variation = 1.0;   ///< c_s^2; 1: exponential, 0: always the same
};

/// Servers of a queue: alike servers behind one line, first come, first served.
struct QueueShape {
    int servers = 1;                ///< c
    std::optional<int> places = {}; ///< K: waiting or served at most, more are turned away; empty: any number
    int batch = 1; ///< most that one server serves together: when it becomes free, of those waiting as many as it can
    double batch_growth = 0.0; ///< service of n together over that of one: 1 + growth (n - 1), from 0 to 1
};

/// Method by which a figure was computed.
enum class QueueMethod {
    exact,          ///< no approximation
    allen_cunneen,  ///< G/G/c
    geometric_tail, ///< G/G/c/K; turned away as by Erlang B, which holds for Poisson arrivals
    batches,        ///< batch service of a mean batch, as its function says
    simulation,     ///< request by request
    capacity,       ///< of a queue that grows without end: only its rates are known
};
std::string_view name_of(QueueMethod method);

/// Steady state of a queue.
struct QueueAnswer {
    bool stable = true;       ///< else all times are infinite, and the queue grows
    double utilization = 0.0; ///< share of time that a server works; where not stable what is asked of it, 1 or more
    double wait_probability = 0.0; ///< of those let in, as all times are
    double blocked = 0.0;          ///< share that finds no place
    double throughput_per_second = 0.0;
    Seconds wait = {}, latency = {};     ///< means: in the line; until served
    double waiting = 0.0, present = 0.0; ///< L_q and L, by Little's law
    double batch = 1.0;                  ///< that a server serves together, in the mean
    double wait_variation = 1.0;         ///< c^2 of the waits of those that wait; 1 also where it is not known
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
///     M/G/1     W_q = rho / (1 - rho) (1 + c_s^2) / 2 / mu                    (Pollaczek-Khinchine)
///     G/G/c     W_q = C(c, a) / (c mu - lambda) (c_a^2 + c_s^2) / 2           (Allen-Cunneen)
///     M/M/c/K   from the birth-death chain; M/G/c/c from Erlang B
///     GI/M/c/K  gamma gaps, by places and load (some 100 places): from the chain embedded at arrivals
///     M/G/1/K   gamma services, up to 2,048 places: from the chain embedded at departures
///     G/G/c/K   the birth-death chain with a decay that gives Allen and Cunneen's wait where K has no end
///     batches   M/M^[1,b]/c without growth: with r + r^2 + ... + r^b = lambda / (c mu),
///               W_q = P_w / (c mu (1 - r^b)),  P_w = B / (1 - r (1 - B))      (Bailey's service rule)
///               M/G^[1,b]/1, gamma services, b to 64: from the chain embedded at departures. Else an approximation: the
///               P_w of exponential services of the mean batch's, waits of one server that is as fast as all
///
/// Against simulations with gamma times, c_a^2 from 0.3 to 2, c_s^2 to 2, loads from 0.5 to 0.95 and 1 to 16 servers Allen
/// and Cunneen's latency errs by 12 % at most; their wait by 25 % at 0.95 of capacity, and by any factor where hardly anyone
/// waits. Latencies of approximated batches err by 25 %, by 40 % where batches of several servers grow by 0.3 a request.
/// A queue of as much load as its servers' capacity, or more, and without bounds, is not stable.
/// Errors: InputError{usage} on figures that are negative or not finite, a service of zero, no server, fewer places than
///         servers, places and batches together.
/// Source: [Kleinrock1975], [AllenCunneen1978], [Kimura1996] (decay), [Bailey1954], [NeutsBatch1967] (batches)
QueueAnswer queue_answer(QueueLoad const& load, QueueShape const& shape);

/// A quantile of the time until served, q in (0, 1).
///
///     M/M/c     P(T > t) of an exponential service after a wait that is 0 with 1 - C, else exponential of rate c mu - lambda
///     M/M^[1,b]/c without growth: likewise, of rate c mu (1 - r^b)
///     M/G/1     Pollaczek and Khinchine's distribution of the wait, by its series on a lattice: within 0.5 %
///     others    the wait, where there is one, as gamma with its mean and `wait_variation`, before a gamma service of the
///               mean and c_s^2: an approximation. The wait's two moments are exact for M/G/1/K, M/M/c/K and batches of one
///               server; with Allen and Cunneen's mean it counts as exponential
///
/// Infinite where the queue is not stable.
/// Source: [Kleinrock1975]
Seconds latency_quantile(QueueLoad const& load, QueueShape const& shape, double q);

// ---- how many, and how far ----------------------------------------------------------------------------------------

/// An objective: a share q of requests is served within a time, and at most a share is turned away.
struct LatencyObjective {
    double q = 0.99;
    Seconds latency = {};
    double blocked = 0.0;
};

/// The fewest servers that keep it, by bisection: more servers wait less and turn fewer away. Nothing where no number up to
/// `most` (or up to the places, if those are stated) does, as where the service alone takes longer.
///
/// Errors: as queue_answer; InputError{usage} on a latency that is not above zero or not finite.
std::optional<int> servers_for(QueueLoad const& load, QueueShape shape, LatencyObjective const& objective,
                               int most = 1'000'000);

/// One load on the throughput-latency curve.
struct LoadPoint {
    double arrivals_per_second = 0.0;
    QueueAnswer answer;
    Seconds p50 = {}, p99 = {};
};
/// At these shares of the capacity c / service, or of full batches (c b / service of b). A share of 1 and more is not stable
/// unless places are stated.
std::vector<LoadPoint> load_curve(QueueLoad const& load, QueueShape const& shape, std::span<double const> utilizations);

/// The load at which power, throughput over latency, is greatest: beyond it latency grows faster than throughput.
///
///     power = X / T,   looked for between 0 and capacity
///
/// M/M/1: half of capacity.
/// Source: [Kleinrock1979]
LoadPoint knee(QueueLoad const& load, QueueShape const& shape);

/// Effect of twice the servers: behind one line, or as two lines to which requests go by chance, half of them to each
/// (whose gaps vary by (1 + c_a^2)/2); and at the same load for each server (twice the traffic). Places double too.
struct Doubling {
    LoadPoint now = {}, shared_line = {};
    LoadPoint own_lines = {}; ///< of one of the two
    LoadPoint twice_traffic = {};
    Seconds service_p99 = {}; ///< below it no number of servers brings the p99
};
Doubling doubling(QueueLoad const& load, QueueShape const& shape);

FieldTable const& field_table_of(LoadPoint const*);
FieldTable const& field_table_of(Doubling const*);

} // namespace headroom::serving
