#pragma once

#include "headroom/serving/queue.hpp"

namespace headroom::serving::queueing {

/// Most places of which the tail is worked out state by state.
inline constexpr int most_exact_places = 20'000;

/// Whether `finite_quantile` holds: Poisson arrivals, exponential services, no batches, and so many places at most.
bool has_exact_tail(QueueLoad const& load, QueueShape const& shape);

/// A quantile of the time until served of those let in, M/M/c/K, exactly. Who comes in when n are there first waits for
/// n - c + 1 ends of services, which come at rate c mu, and is then served. Counted in steps of a clock of that rate:
///
///     P(T > t) = sum over k of Poisson(k; c mu t) S(k),   S(k) = sum over m of w_m (1 - 1/c)^max(0, k - m), 1 for k < m
///
/// with w_m the probability of m ends to wait for. All terms are positive.
/// Source: [Kleinrock1975] (states), [Jensen1953] (the clock)
Seconds finite_quantile(QueueLoad const& load, QueueShape const& shape, double q);

} // namespace headroom::serving::queueing
