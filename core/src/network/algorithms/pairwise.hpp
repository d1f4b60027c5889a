#pragma once

#include "headroom/network/collective_algorithm.hpp"

namespace headroom::network::algorithms {

/// Reduce-scatter by pairs: in round i every rank sends the rank i places on that one's shard.
///
///     T = (p-1) alpha + (p-1)/p n beta + (p-1)/p n gamma
///
/// Holds for:  any p >= 1; adding may be done in any order.
/// Source:     [Thakur2005]
CollectiveTime pairwise_reduce_scatter_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> pairwise_reduce_scatter_schedule(CollectiveCall const& call);

/// All-to-all by pairs: in round i every rank sends the rank i places on what it holds for that one.
///
///     T = (p-1) alpha + (p-1)/p z n beta               z the skew: what the busiest receiver gets over the mean
///
/// All send rank 0 a share z/p of their data and all others alike (`Shares`). Rank 0 gets the longest message of every
/// round, and none waits for more than that.
/// Holds for:  any p >= 1; z in 1 to p, and taken to be the nearer end outside.
/// Source:     [Thakur2005]
CollectiveTime pairwise_all_to_all_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> pairwise_all_to_all_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
