#pragma once

#include "headroom/network/collective_algorithm.hpp"

namespace headroom::network::algorithms {

/// Broadcast by a binomial tree: in each round all that have the vector pass it on, so twice as many have it.
///
///     T = ceil(lg p)(alpha + n beta)
///
/// Holds for:  any p >= 1.
/// Source:     [Thakur2005]
CollectiveTime binomial_broadcast_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> binomial_broadcast_schedule(CollectiveCall const& call);

/// Reduce by a binomial tree: the broadcast backwards, each adding what it gets.
///
///     T = ceil(lg p)(alpha + n beta + n gamma)
///
/// Holds for:  any p >= 1; adding may be done in any order.
/// Source:     [Thakur2005]
CollectiveTime binomial_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> binomial_reduce_schedule(CollectiveCall const& call);

/// Scatter or gather by a binomial tree: a message to or from a subtree has the shards of all its ranks.
///
///     T = ceil(lg p) alpha + (p-1)/p n beta
///
/// For p that is no power of two too: with k = ceil(lg p) the root sends p - 2^(k-1) shards to the cut subtree, then
/// 2^(k-2), ..., 2, 1 to full ones, which is p-1 shards in k messages. Nobody ends later than the root, since a subtree
/// that has got its shards is no larger than what the root has left to serve.
/// Holds for:  any p >= 1.
/// Source:     [Thakur2005]
CollectiveTime binomial_shards_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> binomial_scatter_schedule(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> binomial_gather_schedule(CollectiveCall const& call);

/// The rounds of the binomial scatter or gather of so many ranks, for schedules that begin or end with one.
struct ShardTree {
    enum class Direction { from_root, to_root };
    int ranks;
    double shard_bytes;
    Direction direction;

    [[nodiscard]] int rounds() const;
    /// `rank_at` is the rank of each place in the tree; the root has place 0.
    template <class RankAt> void write(std::int64_t index, Round& round, RankAt rank_at) const;
};

template <class RankAt> void ShardTree::write(std::int64_t index, Round& round, RankAt rank_at) const {
    bool const out = direction == Direction::from_root;
    int const span = 1 << (out ? rounds() - 1 - index : index);
    for (std::int64_t parent = 0; parent + span < ranks; parent += 2 * std::int64_t{span}) {
        int const upper = static_cast<int>(parent);
        int const lower = upper + span;
        int const shards = lower <= ranks - span ? span : ranks - lower;
        Chunks const chunks{.first = static_cast<std::uint32_t>(lower), .length = static_cast<std::uint32_t>(shards)};
        round.send(rank_at(out ? upper : lower), rank_at(out ? lower : upper), shards * shard_bytes, chunks);
    }
}

} // namespace headroom::network::algorithms
