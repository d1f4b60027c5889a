#pragma once

#include "headroom/serving/queue.hpp"

#include <vector>

namespace headroom::serving::queueing {

/// Probabilities of 0 .. count - 1 events of a Poisson process in a gamma time, by their mean number and the time's squared
/// variation: negative binomial, Poisson at 0.
std::vector<double> counts_in_gamma_time(double mean, double variation, int count);

/// Whether `found_states` holds: places, no batches, exponential services, and Poisson arrivals up to 20,000 places or gamma
/// gaps within a bound of work.
bool has_found_states(QueueLoad const& load, QueueShape const& shape);

/// Probabilities that an arrival finds 0 .. K requests, exactly. Poisson arrivals: the birth-death chain. Gamma gaps, as
/// simulations draw them: the chain embedded at arrivals, from the last place down. As many cross up from j as come down:
///
///     p(j) P(none of j + 1 ends in a gap) = sum over i > j of p(i) P(min(i + 1, K) fall to j or fewer in a gap)
///
/// Ends are counted on a clock of rate c mu, at a tick of which one of m ends with min(m, c)/c. All terms are positive.
/// Source: [Kleinrock1975] (G/M/m), [Jensen1953] (the clock)
std::vector<double> found_states(QueueLoad const& load, QueueShape const& shape);

} // namespace headroom::serving::queueing
