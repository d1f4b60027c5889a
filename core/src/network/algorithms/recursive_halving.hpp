#pragma once

#include "headroom/network/collective_algorithm.hpp"

namespace headroom::network::algorithms {

/// Reduce-scatter by recursive halving: ranks half as far apart each time exchange the half that the other one keeps.
///
///     T = lg p alpha + (p-1)/p n (beta + gamma)                                        p a power of two
///     T = (lg q + 2) alpha + (p + 1 + h) n/p beta + (p + h) n/p gamma                  else, p = q + r, q = 2^floor(lg p)
///     h = sum over t < lg q of (2^t + min(2^t, r))
///
/// Else the first 2r ranks are pairs: one of each adds its vector to the other's (n), which in the end returns a shard
/// (n/p). The first places then keep two shards each, and get the longest messages of every round. The line of
/// [Thakur2005], (floor(lg p) + 2) alpha + 2 n beta + (1 + (p-1)/p) n gamma, is this at r = q - 1, where h = p - 1; with
/// few pairs the schedule takes longer, since the halves are of places and not of shards: at p = 9, h = 10 and the
/// factors of beta and gamma are 20/9 and 19/9, not 2 and 17/9.
/// Holds for:  any p >= 1; adding may be done in any order.
/// Source:     [Thakur2005]
CollectiveTime recursive_halving_reduce_scatter_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> recursive_halving_reduce_scatter_schedule(CollectiveCall const& call);

/// All-reduce by recursive halving, then recursive doubling of the sums.
///
///     T = 2 lg p alpha + 2(p-1)/p n beta + (p-1)/p n gamma                             p a power of two
///     T = (2 lg q + 2) alpha + (2(q-1)/q + 2) n beta + ((q-1)/q + 1) n gamma           else, q = 2^floor(lg p)
///
/// Else the first 2(p - q) ranks are pairs: one of each adds its vector to the other's and waits for the sum. The vector
/// is cut into q parts.
/// Holds for:  any p >= 1; adding may be done in any order.
/// Source:     [Rabenseifner2004], [Thakur2005]
CollectiveTime rabenseifner_all_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> rabenseifner_all_reduce_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
