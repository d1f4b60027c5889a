#include "headroom/placement.hpp"

#include <algorithm>

namespace headroom {

Group group_of(int size, int stride, int domain) {
    int const count = std::max(size, 1);
    int const inside = std::max(domain, 1) / std::max(stride, 1);
    return {.size = count, .per_domain = std::clamp(inside, 1, count)};
}

Placement place(Strategy const& strategy, int domain) {
    int const data = strategy.data_ranks();
    int const sharded = strategy.shard_ranks();
    int const stage = strategy.tp * data;
    int const holders = strategy.ep * strategy.etp;
    int const expert_data = std::max(1, strategy.expert_data_ranks());
    int const expert_shard = strategy.expert_shard_ranks();
    return {
        .tensor = group_of(strategy.tp, 1, domain),
        .context = group_of(strategy.cp, strategy.tp, domain),
        .data = group_of(data, strategy.tp, domain),
        .shard = group_of(sharded, strategy.tp, domain),
        .replicate = group_of(data / sharded, strategy.tp * sharded, domain),
        .pipeline = group_of(strategy.pp, stage, domain),
        .experts = group_of(strategy.ep, strategy.etp, domain),
        .expert_data = group_of(expert_data, holders, domain),
        .expert_shard = group_of(expert_shard, holders, domain),
        .expert_replicate = group_of(expert_data / expert_shard, holders * expert_shard, domain),
        .pipeline_leaves_domain = strategy.pp > 1 && stage * strategy.pp > domain,
    };
}

} // namespace headroom
