#include "headroom/training/placement.hpp"

#include <algorithm>

namespace headroom::training {

using namespace headroom::network;

StrategyGroups groups_of(Strategy const& strategy) {
    int const data = strategy.data_ranks();
    int const sharded = strategy.shard_ranks();
    int const holders = strategy.ep * strategy.etp;
    int const expert_data = std::max(1, strategy.expert_data_ranks());
    int const expert_shard = strategy.expert_shard_ranks();
    auto const groups = [ranks = strategy.workers()](int size, int stride) {
        return DimensionGroups{.size = size, .stride = stride, .ranks = ranks};
    };
    return {
        .tensor = groups(strategy.tp, 1),
        .context = groups(strategy.cp, strategy.tp),
        .data = groups(data, strategy.tp),
        .shard = groups(sharded, strategy.tp),
        .replicate = groups(data / sharded, strategy.tp * sharded),
        .pipeline = groups(strategy.pp, strategy.tp * data),
        .experts = groups(strategy.ep, strategy.etp),
        .expert_data = groups(expert_data, holders),
        .expert_shard = groups(expert_shard, holders),
        .expert_replicate = groups(expert_data / expert_shard, holders * expert_shard),
    };
}

Placement place(Strategy const& strategy, int domain) {
    auto const all = groups_of(strategy);
    auto const placed = [domain](DimensionGroups groups) {
        return network::group_of(groups.size, groups.stride, domain);
    };
    return {
        .tensor = placed(all.tensor),
        .context = placed(all.context),
        .data = placed(all.data),
        .shard = placed(all.shard),
        .replicate = placed(all.replicate),
        .pipeline = placed(all.pipeline),
        .experts = placed(all.experts),
        .expert_data = placed(all.expert_data),
        .expert_shard = placed(all.expert_shard),
        .expert_replicate = placed(all.expert_replicate),
        .pipeline_leaves_domain = strategy.pp > 1 && all.pipeline.stride * strategy.pp > domain,
    };
}

} // namespace headroom::training
