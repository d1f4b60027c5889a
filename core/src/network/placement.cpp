#include "headroom/placement.hpp"

#include <algorithm>

namespace headroom {

/// Members `stride` apart: a domain holds domain / stride of them, at least one and at most all. Where the
/// stride does not divide the domain the count is rounded down, so that the slow link is never under-used.
Group group_of(int size, int stride, int domain) {
    int const count = std::max(size, 1);
    int const inside = std::max(domain, 1) / std::max(stride, 1);
    return {.size = count, .per_domain = std::clamp(inside, 1, count)};
}

/// Strides follow from the layout tensor, context, data, pipeline:
///
///     tensor     tp        stride 1
///     context    cp        stride tp
///     data       dp cp     stride tp            gradients are summed over context ranks too
///     shard      S         stride tp            the ranks that hold one copy of a ZeRO-3 state; dp cp unless given
///     replicate  dp cp / S stride tp S          equal shards of different copies
///     pipeline   pp        stride tp cp dp
Placement place(Strategy const& strategy, int domain) {
    int const data = strategy.dp * strategy.cp;
    int const sharded = strategy.shard > 0 ? std::min(strategy.shard, data) : data;
    int const stage = strategy.tp * data;
    return {
        .tensor = group_of(strategy.tp, 1, domain),
        .context = group_of(strategy.cp, strategy.tp, domain),
        .data = group_of(data, strategy.tp, domain),
        .shard = group_of(sharded, strategy.tp, domain),
        .replicate = group_of(data / sharded, strategy.tp * sharded, domain),
        .pipeline = group_of(strategy.pp, stage, domain),
        .pipeline_leaves_domain = strategy.pp > 1 && stage * strategy.pp > domain,
    };
}

} // namespace headroom
