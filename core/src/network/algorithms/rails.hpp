#pragma once

#include "headroom/network/collective_algorithm.hpp"

// Collectives with a root over levels, on rails: the ranks at one place inside of every domain are a rail, and each rail carries
// its shard of the vector across, so that all outer ports of a domain are used. w = S_(L-2) rails, the ranks of all levels but
// the outermost; N_l the ranks of level l, S_l = N_0 N_1 ... N_l.

namespace headroom::network::algorithms {

/// Broadcast on rails: the root scatters shards in its domain, level by level from the inside out; each rail broadcasts its
/// shard across; then a ring all-gather along each level from the outside in, in every domain.
///
///     T = sum over inner levels l of [(ceil(lg N_l) + N_l - 1) a_l + 2 (N_l - 1)/S_l n b_l] + T_across(k, n/w)
///
/// On two levels of g ranks a domain and k domains, T_across that of `pipelined_chain_broadcast_time`,
///
///     T = (ceil(lg g) + g-1) a_in + 2 (g-1)/g n b_in + (k-1 + q-1)(a_out + n/(g q) b_out)
///
/// The root is the last of its domain to end the scatter, so the rail of its own place starts last; that rail's last
/// member takes part in every step of its domain's rings. The parts therefore add up.
/// Holds for:  any number of even levels; on one it is the broadcast that runs across.
/// Assumes:    the phases follow one another.
/// Source:     [StasMlEngineering] for the all-reduce; the scatter of [Thakur2005] in place of its reduce-scatter
CollectiveTime rails_chain_broadcast_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> rails_chain_broadcast_schedule(CollectiveCall const& call);

/// Broadcast on rails with T_across of `van_de_geijn_broadcast_time`.
CollectiveTime rails_van_de_geijn_broadcast_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> rails_van_de_geijn_broadcast_schedule(CollectiveCall const& call);

/// Broadcast on rails with T_across of `double_binary_tree_broadcast_time`.
CollectiveTime rails_trees_broadcast_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> rails_trees_broadcast_schedule(CollectiveCall const& call);

/// Reduce on rails: a ring reduce-scatter along each inner level from the inside out, in every domain; each rail reduces its
/// shard across to the root's domain; there the root gathers the shards from the outside in.
///
///     T = sum over inner levels l of [(ceil(lg N_l) + N_l - 1) a_l + (N_l - 1)/S_l n (2 b_l + gamma)] + T_across(k, n/w)
///
/// On two levels, T_across that of `pipelined_chain_reduce_time`,
///
///     T = (ceil(lg g) + g-1) a_in + (g-1)/g n (2 b_in + gamma) + (k-1 + q-1)(a_out + n/(g q)(b_out + gamma))
///
/// All ranks end the rings at once, and the root's domain is the last to end what runs across, all rails at once.
/// Holds for:  any number of even levels; on one it is the reduce that runs across; adding may be done in any order.
/// Assumes:    the phases follow one another.
/// Source:     [StasMlEngineering] for the all-reduce; the gather of [Thakur2005] in place of its all-gather
CollectiveTime rails_chain_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> rails_chain_reduce_schedule(CollectiveCall const& call);

/// Reduce on rails with T_across of `rabenseifner_reduce_time`.
CollectiveTime rails_rabenseifner_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> rails_rabenseifner_reduce_schedule(CollectiveCall const& call);

/// Reduce on rails with T_across of `double_binary_tree_reduce_time`.
CollectiveTime rails_trees_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> rails_trees_reduce_schedule(CollectiveCall const& call);

/// Scatter or gather on rails: binomial inside the root's domain, of each rail's shards for all domains, then binomial across
/// on every rail; the gather is the same backwards.
///
///     T = ceil(lg g) a_in + (g-1)/g n b_in + ceil(lg k) a_out + (k-1)/k n/g b_out
///
/// The root takes part in every round. One tree among all ranks sends (k-1)/k n across by the root's own port.
/// Holds for:  one or two even levels; on one it equals `binomial_shards_time`.
/// Assumes:    the phases follow one another.
/// Source:     [Thakur2005] on each level
CollectiveTime rails_shards_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> rails_scatter_schedule(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> rails_gather_schedule(CollectiveCall const& call);

/// Layouts that this holds for.
bool is_even_to_two_levels(Layout const& layout);

/// Broadcast by a binomial tree along each level, from the outside in: the whole vector in every message, for short ones.
///
///     T = sum over levels l of ceil(lg N_l)(a_l + n b_l)
///
/// The root takes part in every round.
/// Holds for:  any number of even levels.
/// Source:     [Thakur2005] on each level
CollectiveTime nested_binomial_broadcast_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> nested_binomial_broadcast_schedule(CollectiveCall const& call);

/// Reduce by a binomial tree along each level, from the inside out.
///
///     T = sum over levels l of ceil(lg N_l)(a_l + n b_l + n gamma)
///
/// Holds for:  any number of even levels; adding may be done in any order.
/// Source:     [Thakur2005] on each level
CollectiveTime nested_binomial_reduce_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> nested_binomial_reduce_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
