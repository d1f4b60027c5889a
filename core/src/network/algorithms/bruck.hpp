#pragma once

#include "headroom/network/collective_algorithm.hpp"

namespace headroom::network::algorithms {

/// All-gather by Bruck: in round t every rank sends the rank 2^t places before it all the shards that it has, in the last
/// round only those that are missing there.
///
///     T = ceil(lg p) alpha + (p-1)/p n beta
///
/// Holds for:  any p >= 1.
/// Source:     [Bruck1997]
CollectiveTime bruck_all_gather_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> bruck_all_gather_schedule(CollectiveCall const& call);

/// All-to-all by Bruck: what is for the rank j places on travels 2^t places in every round t in which bit t of j is set.
///
///     T = ceil(lg p) alpha + [c o + (p-1)(b - o)] beta         c = sum over t of #{j < p: bit t of j is set}
///       = ceil(lg p) alpha + c n/p beta                        without skew; lg p / 2 n beta for powers of two
///
/// b and o are what all hold for rank 0 and for each other rank (`Shares`; both are n/p without skew). The message to
/// rank 0 is the longest of every round: it has min(2^t, p - 2^t) blocks for rank 0, p - 1 in all rounds.
/// Holds for:  any p >= 1; skew in 1 to p, and taken to be the nearer end outside.
/// Source:     [Bruck1997]
CollectiveTime bruck_all_to_all_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> bruck_all_to_all_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
