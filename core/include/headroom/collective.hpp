#pragma once

#include "headroom/machine.hpp"
#include "headroom/placement.hpp"
#include "headroom/quantity.hpp"
#include "headroom/ranks.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace headroom {

/// An operation of a group of ranks on vectors of n elements.
enum class Collective {
    all_reduce,     ///< each has a vector; each gets the sum of all
    all_gather,     ///< each has a shard; each gets the whole
    reduce_scatter, ///< each has a vector; each gets one shard of the sum
    all_to_all,     ///< each has a shard for every other and gets one from every other
    broadcast,      ///< one has a vector; each gets it
    point_to_point, ///< one sends to one other
};
std::string_view name_of(Collective collective);

/// Size of the whole vector that a collective works on, counted once: an all-gather of 8 shards of
/// 1 GB has 8 GB. MPI counts the shard for some operations; the type keeps the two apart.
struct TotalBytes {
    Bytes size;
};

/// A collective's time, split into its latency and bandwidth terms.
struct CollectiveTime {
    Seconds latency, bandwidth;
    [[nodiscard]] Seconds total() const { return latency + bandwidth; }
};

/// Time of a ring all-reduce of an n-byte buffer held by each of p ranks.
///
///     T = 2(p-1) alpha + 2(p-1)/p n beta
///
/// A reduce-scatter, then an all-gather: p-1 steps each, n/p bytes a step.
/// Holds for:  any p >= 1 (p = 1 costs nothing).
/// Assumes:    one full-duplex port a rank, no contention, reduction is free.
/// Source:     [PatarasukYuan2009]
CollectiveTime ring_all_reduce(TotalBytes n, Ranks p, Link link);

/// Bytes that each rank sends in a ring all-reduce: 2(p-1)/p n. Source: [PatarasukYuan2009]
Bytes ring_all_reduce_bytes(TotalBytes n, Ranks p);

/// Time of a pipelined double binary tree all-reduce.
///
///     T = 2 ceil(lg p) alpha + 2 n beta
///
/// Holds for:  any p >= 1 (p = 1 costs nothing).
/// Assumes:    pipelining hides all but the first segment; full-duplex ports.
/// Source:     [SandersSpeckTraeff2009]
CollectiveTime tree_all_reduce(TotalBytes n, Ranks p, Link link);

/// Time of a ring all-gather or a ring reduce-scatter, one half of a ring all-reduce.
///
///     T = (p-1) alpha + (p-1)/p n beta
///
/// Holds for:  any p >= 1 (p = 1 costs nothing).
/// Assumes:    as `ring_all_reduce`.
/// Source:     [Thakur2005]
CollectiveTime ring_half(TotalBytes n, Ranks p, Link link);

/// Time of a pairwise exchange, n the bytes that each rank holds for all of them.
///
///     T = (p-1) alpha + (p-1)/p n beta
///
/// Holds for:  any p >= 1 (p = 1 costs nothing).
/// Assumes:    every pair of ranks has a way of its own, so that rounds do not contend.
/// Source:     [Thakur2005]
CollectiveTime pairwise_all_to_all(TotalBytes n, Ranks p, Link link);

/// Time of a binomial tree: in each round all that have the vector pass it on whole.
///
///     T = ceil(lg p) (alpha + n beta)
///
/// Holds for:  any p >= 1 (p = 1 costs nothing); good for short vectors.
/// Assumes:    no pipelining of pieces.
/// Source:     [Thakur2005]
CollectiveTime binomial_broadcast(TotalBytes n, Ranks p, Link link);

/// Time of one message: T = alpha + n beta. Source: [Thakur2005]
CollectiveTime point_to_point(TotalBytes n, Link link);

/// The two levels that a group may cross.
struct Fabric {
    Link scale_up, scale_out;
};

/// Hierarchical all-reduce over g ranks a domain and k domains.
///
///     T = 2[(g-1) a_in + (g-1)/g n b_in] + 2[(k-1) a_out + (k-1)/k n/g b_out]
///
/// Reduce-scatter inside, ring all-reduce of each shard across (all g adapters at once), all-gather inside.
/// Holds for:  any g, k >= 1; equals the flat ring when one of them is 1. Where the group does not fill its
///             domains, g is the mean, p / k.
/// Assumes:    the three phases follow one another.
/// Source:     [StasMlEngineering]
CollectiveTime hierarchical_all_reduce(TotalBytes n, Group group, Fabric fabric);

/// Hierarchical all-gather or reduce-scatter over g ranks a domain and k domains.
///
///     T = (g-1) a_in + (g-1)/g n b_in + (k-1) a_out + (k-1)/k n/g b_out
///
/// Holds for:  as `hierarchical_all_reduce`, of which it is half.
/// Assumes:    the two phases follow one another.
/// Source:     [StasMlEngineering]
CollectiveTime hierarchical_half(TotalBytes n, Group group, Fabric fabric);

/// One algorithm of one collective: a row of the table that lists, property tests and choice share.
struct CollectiveAlgorithm {
    Collective collective;
    std::string_view name;
    CollectiveTime (*time)(TotalBytes, Group, Fabric);
    std::string_view source; ///< key of docs/references.bib
};
std::span<CollectiveAlgorithm const> collective_algorithms();

/// The cheapest algorithm for this collective on this group; ties go to the earlier row of the table.
struct CollectiveChoice {
    CollectiveTime time;
    std::string_view algorithm;
};
CollectiveChoice fastest(Collective collective, TotalBytes n, Group group, Fabric fabric);

/// Time that no algorithm can beat: the larger of what every rank must send or receive over all its ways out
/// at once, and of what must cross between domains over all adapters at once.
///
///     T >= max(2(p-1)/p n / (B_in + B_out), 2(k-1)/p n / B_out)      all-reduce; others alike
///
/// Holds for:  any group; no latency counted.
/// Assumes:    domains stand for single ranks in the second cut, so the same bound applies to k of them.
/// Source:     [PatarasukYuan2009]
Seconds bandwidth_lower_bound(Collective collective, TotalBytes n, Group group, Fabric fabric);

} // namespace headroom
