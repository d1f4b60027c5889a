#pragma once

#include "headroom/machine.hpp"
#include "headroom/quantity.hpp"
#include "headroom/ranks.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace headroom::network {

/// An operation of a group of ranks on vectors of n elements.
enum class Collective {
    all_reduce,     ///< each has a vector; each gets the sum of all
    all_gather,     ///< each has a shard; each gets the whole
    reduce_scatter, ///< each has a vector; each gets one shard of the sum
    all_to_all,     ///< each has a shard for every other and gets one from every other
    broadcast,      ///< one has a vector; each gets it
    point_to_point, ///< one sends to one other
    reduce,         ///< each has a vector; one gets the sum of all
    scatter,        ///< one has a vector; each gets one shard of it
    gather,         ///< each has a shard; one gets the whole
    barrier,        ///< none goes on before all have come; moves no data
};
inline constexpr std::array collectives{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                        Collective::all_to_all, Collective::broadcast,  Collective::point_to_point,
                                        Collective::reduce,     Collective::scatter,    Collective::gather,
                                        Collective::barrier};
std::string_view name_of(Collective collective);
/// Reads such a name, however it is spelled (`normalised`); the names of MPI, NCCL and their benchmarks too:
/// "MPI_Alltoall", "sendrecv".
std::optional<Collective> collective_from(std::string_view name);
/// Whether values are added on the way.
bool reduces(Collective collective);

/// Size of the whole vector that a collective works on, counted once: an all-gather of 8 shards of
/// 1 GB has 8 GB. MPI counts the shard for some operations; the type keeps the two apart.
struct TotalBytes {
    Bytes size;
};

/// A collective's time, split into what messages cost, what bytes cost and what adding costs.
struct CollectiveTime {
    Seconds latency, bandwidth, reduction = {};
    [[nodiscard]] Seconds total() const { return latency + bandwidth + reduction; }
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

/// Time of one message: T = alpha + n beta. Source: [Thakur2005]
CollectiveTime point_to_point(TotalBytes n, Link link);

} // namespace headroom::network
