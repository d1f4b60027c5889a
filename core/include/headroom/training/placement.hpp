#pragma once

#include "headroom/network/group.hpp"
#include "headroom/training/strategy.hpp"

namespace headroom::training {

/// The groups of each dimension in rank order. Ranks are laid out tensor first, then context,
/// then data, then pipeline (Megatron's default order): tensor groups are neighbours.
///
///     tensor     tp         stride 1
///     context    cp         stride tp
///     data       dp cp      stride tp           gradients are summed over context ranks too
///     shard      S          stride tp           the ranks that hold one copy of a ZeRO-3 state; dp cp unless given
///     replicate  dp cp / S  stride tp S         equal shards of different copies
///     pipeline   pp         stride tp cp dp
///     experts    ep         stride etp              the ranks that a layer's experts are spread over
///     expert data  dp cp tp / (ep etp)  stride ep etp     gradients of an expert; its shards and copies likewise
///
/// Source: [Narayanan2021]
struct StrategyGroups {
    network::DimensionGroups tensor, context, data, shard, replicate, pipeline;
    network::DimensionGroups experts, expert_data, expert_shard, expert_replicate;
};
StrategyGroups groups_of(Strategy const& strategy);

/// Links that the groups of each parallel dimension cross: `group_of` for each of `groups_of`.
struct Placement {
    network::Group tensor, context, data, shard, replicate, pipeline;
    network::Group experts, expert_data, expert_shard, expert_replicate;
    bool pipeline_leaves_domain = false; ///< a stage boundary crosses the scale-out network
};
Placement place(Strategy const& strategy, int domain);

} // namespace headroom::training
