#pragma once

#include "headroom/network/collective_algorithm.hpp"

namespace headroom::network::algorithms {

/// Reduce as a reduce-scatter by recursive halving, then a binomial gather: Rabenseifner's.
///
///     p a power of two:   T = 2 lg p alpha + 2 (p-1)/p n beta + (p-1)/p n gamma
///     any other p:        T = (2 lg q + 1) alpha + (2 (q-1)/q + 1) n beta + ((q-1)/q + 1) n gamma,  q = 2^floor(lg p)
///
/// Folding: of the first 2(p-q) ranks the odd ones hand their whole vector to the even one before them and are done.
/// Rank 0 waits for such a message and takes part in all rounds that follow, so its messages are the time.
/// Holds for:  any p >= 1; adding may be done in any order.
/// Source:     [Rabenseifner2004], [Thakur2005]
CollectiveTime rabenseifner_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> rabenseifner_reduce_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
