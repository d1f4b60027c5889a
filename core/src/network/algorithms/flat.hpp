#pragma once

#include "headroom/network/collective_algorithm.hpp"

namespace headroom::network::algorithms {

/// Broadcast from the root to each, one after the other.
///
///     T = (p-1)(alpha + n beta)
///
/// Holds for:  any p >= 1.
/// Source:     [Thakur2005]
CollectiveTime flat_broadcast_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> flat_broadcast_schedule(CollectiveCall const& call);

/// Reduce from each to the root, one after the other; the root adds before it takes the next.
///
///     T = (p-1)(alpha + n beta + n gamma)
///
/// Holds for:  any p >= 1.
/// Source:     [Thakur2005]
CollectiveTime flat_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> flat_reduce_schedule(CollectiveCall const& call);

/// All-reduce as the flat reduce, then the flat broadcast.
///
///     T = 2(p-1)(alpha + n beta) + (p-1) n gamma
///
/// Holds for:  any p >= 1.
/// Source:     [Thakur2005]
CollectiveTime flat_all_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> flat_all_reduce_schedule(CollectiveCall const& call);

/// Scatter or gather, the root and each other one after the other, a shard at a time.
///
///     T = (p-1) alpha + (p-1)/p n beta
///
/// Holds for:  any p >= 1.
/// Source:     [MPICH]
CollectiveTime linear_shards_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> linear_scatter_schedule(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> linear_gather_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
