#pragma once

#include "headroom/serving/queue.hpp"

#include <optional>

namespace headroom::serving {

/// Whole latencies of a queue: mean and variance, of requests that came so often to so many servers.
struct SeenLatencies {
    double mean = 0.0, variance = 0.0;
    double arrivals_per_second = 0.0, arrival_variation = 1.0;
    int servers = 1;
};

/// The times of service that a queue must have to show these latencies, waiting taken out:
///
///     mean     = S + W_q(S, c_s^2)
///     variance = S^2 c_s^2 + P_w 2 (W_q / P_w)^2 - W_q^2
///
/// the wait being 0 or, with probability P_w, exponential. Of several S the largest: least waiting.
/// Assumes:    one line, first come, first served; a wait says nothing about the service after it.
/// Nothing where no queue of so many servers has such latencies.
/// Source:     [AllenCunneen1978], [Kleinrock1975]
std::optional<QueueLoad> service_behind(SeenLatencies const& seen);

} // namespace headroom::serving
