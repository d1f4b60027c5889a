#pragma once

#include "headroom/network/collective_algorithm.hpp"

namespace headroom::network::algorithms {

/// All-reduce along a chain: each rank adds its own and passes the sum on, then the sum goes back the same way.
///
///     T = 2(p-1)(alpha + n beta) + (p-1) n gamma
///
/// Every message waits for the one before it: the shape that stops scaling.
/// Holds for:  any p >= 1.
/// Source:     [OpenMPI]
CollectiveTime chain_all_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> chain_all_reduce_schedule(CollectiveCall const& call);

/// Broadcast along a chain in q segments, each passed on while the next one comes.
///
///     T = (p-1 + q-1)(alpha + n beta / q)      q near sqrt((p-2) n beta / alpha)
///
/// The last segment leaves the root after q-1 others and takes p-1 hops. q is that of `best_segments` with p-2 rounds
/// to fill; two ranks gain nothing from segments: q = 1.
/// Holds for:  any p >= 1.
/// Source:     [OpenMPI]
CollectiveTime pipelined_chain_broadcast_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> pipelined_chain_broadcast_schedule(CollectiveCall const& call);

/// Reduce along a chain in q segments: the way of the broadcast backwards, each adding its own to a segment.
///
///     T = (p-1 + q-1)(alpha + n (beta + gamma) / q)      q near sqrt((p-2) n (beta + gamma) / alpha)
///
/// A rank that adds is not ready for its next messages, so gamma counts in every round, and in the choice of q.
/// Holds for:  any p >= 1.
/// Source:     [OpenMPI]
CollectiveTime pipelined_chain_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> pipelined_chain_reduce_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
