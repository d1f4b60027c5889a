#pragma once

#include "headroom/serving/queue.hpp"

namespace headroom::serving::queueing {

/// A quantile of the time until served of those let in, exactly where `has_found_states`. Who comes in when n are there first waits for
/// n - c + 1 ends of services, which come at rate c mu, and is then served. Counted in steps of a clock of that rate:
///
///     P(T > t) = sum over k of Poisson(k; c mu t) S(k),   S(k) = sum over m of w_m (1 - 1/c)^max(0, k - m), 1 for k < m
///
/// with w_m the probability of m ends to wait for. All terms are positive.
/// Source: [Jensen1953] (the clock)
Seconds finite_quantile(QueueLoad const& load, QueueShape const& shape, double q);

} // namespace headroom::serving::queueing
