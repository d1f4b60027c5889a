#pragma once

#include "headroom/serving/latency_histogram.hpp"
#include "headroom/serving/queue.hpp"
#include "headroom/serving/queue_simulation.hpp"

#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

namespace headroom::serving {

// Choices around a queue: one line or one for each server, more servers or faster ones, and a service whose tail was
// measured.

/// A queue as it is asked about.
struct ServedQueue {
    QueueLoad load;
    QueueShape shape;
    Dispatch dispatch = Dispatch::shared_line;
    LatencyHistogram const* service =
        nullptr;               ///< measured times, whose tail is then that of the service, scaled to its mean
    std::stop_token stop = {}; ///< of simulations, which throw Interrupted then
};

// ---- a line for each server ---------------------------------------------------------------------------------------

/// Share of a load that arrives at one of n alike lines.
///
///     random        lambda / n,  c_a^2 -> 1 + (c_a^2 - 1) / n      each request by a throw
///     round robin   lambda / n,  c_a^2 -> c_a^2 / n                every n-th request
///
/// Nothing where a line depends on the length of the others (two choices, shortest line): simulate those.
/// Errors: InputError{usage} for fewer than one line.
/// Source: [Whitt1983]
std::optional<QueueLoad> load_of_line(QueueLoad const& load, int lines, Dispatch dispatch);

/// Means of the whole queue, all lines together; nothing as for `load_of_line`. Places are of the whole: with a line for
/// each server each has its part.
/// Errors: as queue_answer; InputError{usage} where places do not divide among the lines.
std::optional<QueueAnswer> answer_of(ServedQueue const& queue);

/// A quantile of the time until served; nothing as above. Of a measured service see `measured_quantile`; with exponential
/// services and places it is exact, state by state, up to 20,000 places of Poisson arrivals and some 100 of others, else
/// as `latency_quantile`.
std::optional<Seconds> quantile_of(ServedQueue const& queue, double q);

/// The fewest servers that keep the objective, as `servers_for`, for any dispatch that has a closed form.
std::optional<int> servers_for(ServedQueue const& queue, LatencyObjective const& objective, int most = 1'000'000);

/// Most requests a second that a server can serve: with batches a full one in the time that it takes.
double capacity_of_server(QueueLoad const& load, QueueShape shape);

// ---- a measured tail ----------------------------------------------------------------------------------------------

/// A quantile of a wait that is 0 or exponential, and then a service as it was measured:
///
///     P(T > t) = (1 - P_w) P(S > t) + P_w E[min(1, exp(-(t - S)/w))],   w = W_q / P_w
///
/// The wait is that of the answer, and exponential where it is not 0: exact for exponential services, else as
/// `latency_quantile` has it. `scale` turns values of the histogram into seconds.
/// Errors: InputError{usage} for shares outside (0, 1); InputError{insufficient} for no samples.
/// Source: [Kleinrock1975]
Seconds measured_quantile(QueueAnswer const& answer, LatencyHistogram const& service, double scale, double q);

// ---- faster, or more ----------------------------------------------------------------------------------------------

/// Ways to spend f times the money, where price is proportional to speed.
enum class Scaling {
    present,
    up,         ///< as many servers, each f times as fast
    shared_out, ///< f times as many behind one line
    own_out,    ///< f times as many, each with a line of its own, chosen at random
};
std::string_view name_of(Scaling scaling);

struct ScaleChoice {
    Scaling scaling = Scaling::present;
    ServedQueue queue;
    QueueAnswer answer;
    Seconds p50, p99;
};

/// The four of them, in the order above, f servers' worth of the present ones each but the first.
/// Errors: as answer_of; InputError{usage} where f is not above 1 or f times the servers are no whole number.
/// Source: [Kleinrock1975] (one fast server against several slow ones)
std::vector<ScaleChoice> scale_choices(ServedQueue const& present, double factor);

/// The variation of the service above which f times as many behind one line have a lower mean latency than as many f times
/// as fast:
///
///     W_up v + s/f = W_out v + s,   v = (c_a^2 + c_s^2) / 2,   waits W of M/M/c
///
/// One fast server is held up by every long request; several are not. Nothing where none is so large.
/// Holds for: one line, any number of places, no batches.
/// Source: [AllenCunneen1978]
std::optional<double> variation_where_more_win(QueueLoad const& load, int servers, double factor);

} // namespace headroom::serving
