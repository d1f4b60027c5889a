#pragma once

#include "headroom/network/collective.hpp"
#include "headroom/network/group.hpp"
#include "headroom/term.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace headroom::network {

/// The two levels that a group may cross.
struct Fabric {
    Link scale_up, scale_out;
};

/// Hierarchical all-reduce over g ranks a domain and k domains.
///
///     T = 2[(g-1) a_in + (g-1)/g n b_in] + 2[(k-1) a_out + (k-1)/k n/g b_out]
///
/// Reduce-scatter inside, ring all-reduce of each shard across (all g NICs at once), all-gather inside.
/// Holds for:  any g, k >= 1; equals the flat ring when one of them is 1. Where the last domain has s < g ranks, its s
///             NICs carry what those of a full one would, (k-1) g/(p s) n a direction in place of (k-1)/k n/g, and
///             what ranks without a partner there hand over is left out; the table of `collective_algorithm.hpp` counts
///             it: 2 max(s, g-s) messages of n/(g s) inside.
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

/// One algorithm as communication libraries run it on two levels, with rings and trees pipelined over channels that
/// leave a domain by different NICs: a row of the table that a training step is priced by.
struct LibraryAlgorithm {
    Collective collective;
    std::string_view name;
    CollectiveTime (*time)(TotalBytes, Group, Fabric);
    std::string_view source; ///< key of docs/references.bib
};
std::span<LibraryAlgorithm const> library_algorithms();

/// The cheapest algorithm for this collective on this group; ties go to the earlier row of the table.
struct CollectiveChoice {
    CollectiveTime time;
    std::string_view algorithm;
};
CollectiveChoice fastest(Collective collective, TotalBytes n, Group group, Fabric fabric);

/// Adds a time of messages to the terms of an explanation: NAME_latency_seconds and NAME_transfer_seconds, from the messages
/// and bytes that `algorithm` has on each level. Needs the terms scale_up_latency, scale_up_rate, scale_out_latency,
/// scale_out_rate and NAME_bytes.
/// Holds for:  times that are linear in the latencies of the fabric and in the inverse of its rates, or their maximum.
void explain_messages(TermBook& book, std::string const& name, std::string const& algorithm, Group group, Fabric fabric,
                      std::function<CollectiveTime(Fabric)> const& time);

/// Adds the time of `fastest` to the terms of an explanation.
void explain_fastest(TermBook& book, std::string const& name, Collective collective, TotalBytes n, Group group,
                     Fabric fabric);

/// Time that no algorithm can beat: the larger of two bounds. Every rank must send or receive its bytes over all its
/// ports at once; all bytes between domains must cross over all NICs at once.
///
///     T >= max(2(p-1)/p n / (B_in + B_out), 2(k-1)/p n / B_out)      all-reduce; others alike
///
/// Holds for:  any group; no latency counted.
/// Assumes:    domains stand for single ranks in the second cut, so the same bound applies to k of them.
/// Source:     [PatarasukYuan2009]
Seconds bandwidth_lower_bound(Collective collective, TotalBytes n, Group group, Fabric fabric);

} // namespace headroom::network
