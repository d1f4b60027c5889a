#pragma once

#include "headroom/network/collective_algorithm.hpp"

#include <cstdint>

namespace headroom::network::algorithms {

/// Two binary trees over the ranks 1 to m = p-1, each rank inner in at most one of them, which rank 0 feeds by turns.
///
/// Places 1 to m are those of a heap: the parent of v is v/2. Tree 0 has rank v at place v; tree 1 has there the rank
/// of the place's mate, a leaf for an inner place and the other way round. Tree 0 carries the even segments, tree 1 the
/// odd ones.
///
/// Rounds. Place v gets segment j in round j + lag(v), in its tree: every second round, of one parity in tree 0 and
/// the other in tree 1. From the round after that an inner place sends to its children, to one 1 and to the other 2
/// rounds after it got the segment: it sends in both parities, and only in the tree where it is inner. A rank gets
/// once a round where the lags of its two places, which are mates, have the same parity. Here odd places have even
/// lags, even places odd ones. So mates are i and i + s with s even, whichever of floor(m/2) and ceil(m/2) is. Where m
/// = 2 mod 4 neither is: there the last place, an only child, takes the lag of the place that would come after it, is
/// the mate of place 1, and the mates of the other inner places i are i + m/2 - 1.
///
/// How long it takes. lag(v) is the depth of v, and one more for each edge on the way whose ends are both odd or both
/// even: for each two equal neighbours among the binary digits of v. With d = floor(lg m) the place 11...1 of depth d
/// has the largest lag, 2d, if it is there, that is where m = 2^(d+1) - 1; else 10...0 has, 2d - 1, since only the
/// ends of its first edge are unlike. So the last of q segments is through after q + 2d or q + 2d - 1 rounds, and no
/// round of them can be saved: rank 0 sends in q of them, then on the way of the last segment each parent sends to the
/// earlier child, then to the later one. Only where the later child has no sibling its parent might not wait; that is
/// the last place of an even m, and matters in three cases:
///
///     m = 2^d, d > 1          the parent is busy with the other tree meanwhile; a round is saved only with q = 1
///     m = 2                   the same, but the last place is as late as with m = 3: q + 2, with q = 1 two
///     m = 2^(d+1) - 2, d > 1  nothing keeps the parent: the last place, of lag 2d, is through after q + 2d - 1
///
/// Reducing is the same backwards. Each message of its longest way is added before the next one begins, but for
/// m = 2^d > 1 and q > 1: there the parent that is busy with the other tree sends, which hides the adding of one.
/// Holds for:  any m >= 1, q >= 1; counted out for m up to 512 with q up to 13.
/// Source:     [SandersSpeckTraeff2009]; the heap and its mates are chosen here so that the count is closed
class TwoTrees {
public:
    explicit TwoTrees(int places) : places_{places} {}

    /// The rank at a place of tree 0 or 1.
    [[nodiscard]] int rank_at(int place, bool second) const { return second ? mate(place) : place; }
    /// Rounds from a segment's leaving rank 0 until it comes to the place, less one.
    [[nodiscard]] int lag(int place) const;
    /// Largest lag of all places; also the rounds that fill the pipeline as segments are chosen for it.
    [[nodiscard]] int largest_lag() const;
    /// Messages on the longest way through a broadcast or reduce of q segments.
    [[nodiscard]] std::int64_t messages(std::uint32_t segments) const;
    /// Number of those messages in a reduce whose adding is waited for.
    [[nodiscard]] std::int64_t additions(std::uint32_t segments) const;

private:
    [[nodiscard]] int mate(int place) const;
    int places_;
};

/// Broadcast by two binary trees in q segments.
///
///     T = R(p, q)(alpha + n beta / q)      q near sqrt(2 lg p n beta / alpha)
///     R = q + 2 lg p - 2                   p a power of two
///         q + 2 floor(lg(p-1)) - 1         any other p > 3; one less where p-1 is a power of two and q = 1
///         q + 2                            p = 3; two with q = 1
///
/// `TwoTrees` has the reasons. For large n, T is n beta (1 + o(1)): full bandwidth with a logarithmic latency.
/// Holds for:  any p >= 1; q is that of `best_segments` with the largest lag as the rounds to fill.
/// Source:     [SandersSpeckTraeff2009]
CollectiveTime double_binary_tree_broadcast_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> double_binary_tree_broadcast_schedule(CollectiveCall const& call);

/// Reduce by two binary trees in q segments: the broadcast backwards.
///
///     T = R(p, q)(alpha + n (beta + gamma) / q), less n gamma / q where p-1 > 1 is a power of two and q > 1
///
/// Holds for:  any p >= 1; adding may be done in any order.
/// Source:     [SandersSpeckTraeff2009]
CollectiveTime double_binary_tree_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> double_binary_tree_reduce_schedule(CollectiveCall const& call);

/// All-reduce by two binary trees: the reduce, then the broadcast, with the q that is best for both together.
///
///     T = 2 R(p, q)(alpha + n beta / q) + R(p, q) n gamma / q, less what the reduce saves
///
/// Rank 0 ends the reduce last and begins the broadcast, so the two add up: 4 lg p alpha + 2 n beta (1 + o(1)). A rank
/// takes from its two children one after the other; 2 lg p alpha is reached only where both come at once.
/// Holds for:  any p >= 1; adding may be done in any order.
/// Source:     [SandersSpeckTraeff2009]
CollectiveTime double_binary_tree_all_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> double_binary_tree_all_reduce_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
