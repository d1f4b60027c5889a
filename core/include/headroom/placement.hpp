#pragma once

#include "headroom/strategy.hpp"

#include <compare>

namespace headroom {

/// A communication group as the network sees it: `size` ranks, `per_domain` of them in each scale-up
/// domain. size = per_domain * domains (rounded up where it does not divide).
struct Group {
    int size = 1;
    int per_domain = 1;
    [[nodiscard]] int domains() const { return size / per_domain + (size % per_domain != 0 ? 1 : 0); }
    bool operator==(Group const&) const = default;
};

/// The group of `size` ranks that are `stride` apart in rank order, on domains of `domain` ranks.
///
///     per_domain = clamp(floor(domain / stride), 1, size)
///
/// Where the stride does not divide the domain the count is rounded down, so that the slow link is never under-used.
Group group_of(int size, int stride, int domain);

/// The groups of a dimension of parallelism: of `ranks` ranks in all, `size` to a group, `stride` apart
/// (`strided_groups`).
struct DimensionGroups {
    int size = 1, stride = 1, ranks = 1;
    auto operator<=>(DimensionGroups const&) const = default;
};

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
    DimensionGroups tensor, context, data, shard, replicate, pipeline;
    DimensionGroups experts, expert_data, expert_shard, expert_replicate;
};
StrategyGroups groups_of(Strategy const& strategy);

/// Which links the groups of each dimension cross: `group_of` for each of `groups_of`.
struct Placement {
    Group tensor, context, data, shard, replicate, pipeline;
    Group experts, expert_data, expert_shard, expert_replicate;
    bool pipeline_leaves_domain = false; ///< a stage boundary crosses the scale-out network
};
Placement place(Strategy const& strategy, int domain);

} // namespace headroom
