#pragma once

#include "headroom/network/collective_algorithm.hpp"

namespace headroom::network::algorithms {

/// All-reduce over levels: reduce-scatter along each level from the inside out, all-reduce across the outermost one,
/// all-gather along each level on the way back. Inside, each is a ring; the vector is divided by the ranks that it has
/// been reduced over.
///
///     T = sum over levels l of 2(N_l - 1) a_l + 2(N_l - 1)/S_l n b_l + (N_l - 1)/S_l n gamma
///
/// N_l the ranks of level l, S_l = N_0 N_1 ... N_l. On two levels of g ranks a domain and k domains,
///
///     T = 2[(g-1) a_in + (g-1)/g n b_in] + 2[(k-1) a_out + (k-1)/k n/g b_out] + (p-1)/p n gamma
///
/// Where the last of k domains has s < g ranks, the g - s ranks of the others that have no partner there hand their shards
/// to the s that have one, which then hold n/s each, and get them back (`uneven_domains.hpp`):
///
///     T = 2[(g-1) a_in + (g-1)/g n b_in] + 2 max(s, g-s)(a_in + n/(g s) b_in) + 2[(k-1) a_out + (k-1)/k n/s b_out]
///         + [(g-1)/g + (k-1)/(k s)] n gamma
///
/// Holds for:  any number of even levels; two levels of any number of ranks; the ring across equals `ring` on one level.
///             The same on the sides of a torus, where a ring along a side is one of neighbours.
/// Assumes:    the phases follow one another.
/// Source:     [StasMlEngineering]
CollectiveTime hierarchical_ring_all_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> hierarchical_ring_all_reduce_schedule(CollectiveCall const& call);

/// Hierarchical all-reduce with recursive doubling of the n/g (or n/s) across the outermost level: its two terms for
/// across become T of `recursive_doubling_all_reduce_time` of so many bytes among k.
CollectiveTime hierarchical_doubling_all_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> hierarchical_doubling_all_reduce_schedule(CollectiveCall const& call);

/// Hierarchical all-reduce with recursive halving and doubling across: T of `rabenseifner_all_reduce_time` of so many
/// bytes among k.
CollectiveTime hierarchical_rabenseifner_all_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> hierarchical_rabenseifner_all_reduce_schedule(CollectiveCall const& call);

/// All-gather over levels: across the outermost level first, then along each level from the outside in, so that the
/// slowest link carries the least.
///
///     T = sum over levels l of (N_l - 1) a_l + (N_l - 1)/S_l n b_l
///
/// Where the last of k domains has s < g ranks, ranks first hand their shards to the s of their domain that have a partner
/// in every other one; these send what their domain gave them round the ring of domains, and hand ranks without a partner
/// their part of the whole:
///
///     T = (g-1)(a_in + n/(p s) b_in) + (k-1)(a_out + g n/(p s) b_out) + max(s, g-s)(a_in + n/(g s) b_in)
///         + (g-1)(a_in + n/g b_in)
///
/// Holds for:  as `hierarchical_ring_all_reduce_time`.
/// Assumes:    as there.
/// Source:     [StasMlEngineering]
CollectiveTime hierarchical_ring_all_gather_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> hierarchical_ring_all_gather_schedule(CollectiveCall const& call);

/// Hierarchical all-gather with Bruck's across the outermost level: ceil(lg k) messages instead of k - 1.
/// Holds for:  even levels.
CollectiveTime hierarchical_bruck_all_gather_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> hierarchical_bruck_all_gather_schedule(CollectiveCall const& call);

/// Reduce-scatter over levels: the messages of the all-gather turned round, from the inside out.
///
///     T = sum over levels l of (N_l - 1) a_l + (N_l - 1)/S_l n (b_l + gamma)
///
/// Where the last of k domains has s < g ranks, the all-gather's T with (g-1)/g n gamma more inside and
/// (k-1) g/(p s) n gamma more across.
/// Holds for:  as `hierarchical_ring_all_reduce_time`; adding may be done in any order.
/// Assumes:    as there.
/// Source:     [StasMlEngineering]
CollectiveTime hierarchical_ring_reduce_scatter_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> hierarchical_ring_reduce_scatter_schedule(CollectiveCall const& call);

/// Hierarchical reduce-scatter with recursive halving across the outermost level.
/// Holds for:  even levels.
CollectiveTime hierarchical_halving_reduce_scatter_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> hierarchical_halving_reduce_scatter_schedule(CollectiveCall const& call);

/// All-to-all over levels: inside each domain first, so that across every rank sends one message to each other domain, of
/// all that its domain has for one rank there.
///
///     T = sum over levels l of (N_l - 1)(a_l + n/N_l b_l)                                     without skew
///     T = sum over levels l of (N_l - 1)(a_l + S_l/N_l [b + (p/S_l - 1) o] b_l)               b, o as in `Shares`
///
/// Against pairs among all ranks, (p - g) messages across become k - 1, for as many bytes; what goes across has gone
/// inside before, unless it started on the right place: (g-1)/g n b_in instead of (g-1)/p n b_in.
/// Holds for:  any number of even levels; skew in 1 to p, and taken to be the nearer end outside.
/// Assumes:    the phases follow one another.
/// Source:     [Bruck1997] is the same on levels of two ranks
CollectiveTime hierarchical_all_to_all_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> hierarchical_all_to_all_schedule(CollectiveCall const& call);

/// Layouts that these hold for.
bool is_even(Layout const& layout);
bool is_even_or_two_levels(Layout const& layout);

} // namespace headroom::network::algorithms
