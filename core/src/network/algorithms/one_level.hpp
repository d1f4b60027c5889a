#pragma once

#include "headroom/network/collective_algorithm.hpp"

/// Algorithms among ranks that are all alike, with the time of each. Algorithms whose parts others use have headers of their own.
namespace headroom::network::algorithms {

/// One message, from rank 0 to rank 1.
///
///     T = alpha + n beta
///
/// Holds for:  any p >= 1; with one rank there is nobody to send to, and T = 0.
/// Source:     [Thakur2005]
CollectiveTime send_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> send_schedule(CollectiveCall const& call);

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

/// All-reduce by recursive doubling: ranks 1, 2, 4 ... apart exchange all that they have and add it.
///
///     T = lg p (alpha + n beta + n gamma)                              p a power of two
///     T = (lg q + 2)(alpha + n beta) + (lg q + 1) n gamma              else, q = 2^floor(lg p)
///
/// With p = q + r ranks, each even rank below 2r sends its vector to the next rank, which reduces both vectors and
/// returns the result at the end.
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
/// Else the first 2(p - q) ranks form pairs: one rank of a pair sends its vector, its partner reduces both and sends the
/// result back at the end. The vector is split into q parts.
/// Holds for:  any p >= 1; adding may be done in any order.
/// Source:     [Rabenseifner2004], [Thakur2005]
CollectiveTime rabenseifner_all_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> rabenseifner_all_reduce_schedule(CollectiveCall const& call);

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

/// Barrier by dissemination: in round t every rank tells the rank 2^t places on. Messages carry nothing.
///
///     T = ceil(lg p) alpha
///
/// Holds for:  any p >= 1.
/// Source:     [Hensgen1988]
CollectiveTime dissemination_barrier_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> dissemination_barrier_schedule(CollectiveCall const& call);

/// Barrier by a binomial tree: all tell rank 0, which tells all. Messages carry nothing.
///
///     T = 2 ceil(lg p) alpha
///
/// Holds for:  any p >= 1.
/// Source:     [Thakur2005]
CollectiveTime binomial_barrier_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> binomial_barrier_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
