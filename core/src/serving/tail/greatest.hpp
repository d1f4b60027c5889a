#pragma once

#include "headroom/ranks.hpp"
#include "headroom/serving/tail_distribution.hpp"

namespace headroom::serving {

/// Contribution to the mean of the greatest of K draws from those where it is among the highest `share` of one draw:
///
///     integral over p from 0 to share of  quantile_above(p) K (1-p)^(K-1)
///
/// `share` = 1: the whole mean. Infinite where the tail has no mean. Source: [DavidNagaraja2003]
double mean_from_highest(TailDistribution const& distribution, Ranks workers, double share);

/// InputError{usage} unless the coefficients are those of a distribution.
void demand_distribution(TailDistribution const& distribution);

} // namespace headroom::serving
