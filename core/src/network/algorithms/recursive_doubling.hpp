#pragma once

#include "headroom/network/collective_algorithm.hpp"

namespace headroom::network::algorithms {

/// All-reduce by recursive doubling: ranks 1, 2, 4 ... apart exchange all that they have and add it.
///
///     T = lg p (alpha + n beta + n gamma)                              p a power of two
///     T = (lg q + 2)(alpha + n beta) + (lg q + 1) n gamma              else, q = 2^floor(lg p)
///
/// Of p = q + r ranks the first 2r are pairs: one of each adds its vector to the other's and waits for the sum.
/// Holds for:  any p >= 1.
/// Source:     [Thakur2005]
CollectiveTime recursive_doubling_all_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> recursive_doubling_all_reduce_schedule(CollectiveCall const& call);

/// All-gather by recursive doubling: ranks 1, 2, 4 ... apart exchange all the shards that they have.
///
///     T = lg p alpha + (p-1)/p n beta                                                  p a power of two
///     T = (lg q + 2) alpha + (p + sum over t < lg q of (2^t + min(2^t, r))) n/p beta   else, p = q + r, q = 2^floor(lg p)
///
/// Else the first 2r ranks are pairs: one of each gives its shard to the other (n/p) and gets the p-1 that it lacks. The
/// first places then stand for two ranks each, and their messages are the longest of every round. The textbook line
/// ceil(lg p) alpha + (p-1)/p n beta is Bruck's for such p: at p = 9 counting gives 5 alpha + 19/9 n beta, not
/// 4 alpha + 8/9 n beta.
/// Holds for:  any p >= 1.
/// Source:     [Thakur2005]
CollectiveTime recursive_doubling_all_gather_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> recursive_doubling_all_gather_schedule(CollectiveCall const& call);

/// Reduce-scatter by recursive doubling: ranks 1, 2, 4 ... apart exchange the sums of all shards but those that their
/// own half keeps. Groups are added in the order of their ranks, so adding need not commute.
///
///     T = lg p alpha + (lg p - (p-1)/p) n (beta + gamma)
///
/// Holds for:  p a power of two.
/// Source:     [Thakur2005]
CollectiveTime recursive_doubling_reduce_scatter_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> recursive_doubling_reduce_scatter_schedule(CollectiveCall const& call);
bool is_power_of_two(Layout const& layout);

} // namespace headroom::network::algorithms
