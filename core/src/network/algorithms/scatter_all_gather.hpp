#pragma once

#include "headroom/network/collective_algorithm.hpp"

namespace headroom::network::algorithms {

/// Broadcast as a binomial scatter, then an all-gather that doubles in each round what everybody has: van de Geijn's.
///
///     T = 2 ceil(lg p) alpha + 2 (p-1)/p n beta
///
/// In round k of the all-gather, a rank that holds the 2^k shards from its own on gets as many from the rank 2^k places
/// on, the last time only those that it lacks. For powers of two that costs what recursive doubling does; for others
/// recursive doubling has to fold, and this needs nothing more. The root is the last to end the scatter and takes part
/// in every round after it, so the two parts add up.
/// Holds for:  any p >= 1.
/// Source:     [Barnett1994], [Thakur2005]; the shifts of [Bruck1997]
CollectiveTime van_de_geijn_broadcast_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> van_de_geijn_broadcast_schedule(CollectiveCall const& call);

/// Broadcast as a binomial scatter, then an all-gather round a ring.
///
///     T = (ceil(lg p) + p-1) alpha + 2 (p-1)/p n beta
///
/// Holds for:  any p >= 1.
/// Source:     [Thakur2005]
CollectiveTime scatter_ring_broadcast_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> scatter_ring_broadcast_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
