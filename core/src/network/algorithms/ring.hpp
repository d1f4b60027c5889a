#pragma once

#include "headroom/network/collective_algorithm.hpp"

namespace headroom::network::algorithms {

/// All-reduce round a ring: reduce-scatter, then all-gather, p-1 steps each of n/p bytes.
///
///     T = 2(p-1) alpha + 2(p-1)/p n beta + (p-1)/p n gamma
///
/// Holds for:  any p >= 1.
/// Source:     [PatarasukYuan2009]
CollectiveTime ring_all_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> ring_all_reduce_schedule(CollectiveCall const& call);

/// All-gather round a ring: every rank passes on the shard that it has got last.
///
///     T = (p-1) alpha + (p-1)/p n beta
///
/// Holds for:  any p >= 1.
/// Source:     [Thakur2005]
CollectiveTime ring_all_gather_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> ring_all_gather_schedule(CollectiveCall const& call);

/// Reduce-scatter round a ring: every rank adds its own part to the shard that it got last and passes it on.
///
///     T = (p-1) alpha + (p-1)/p n beta + (p-1)/p n gamma
///
/// Holds for:  any p >= 1; adding may be done in any order.
/// Source:     [Thakur2005]
CollectiveTime ring_reduce_scatter_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> ring_reduce_scatter_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
