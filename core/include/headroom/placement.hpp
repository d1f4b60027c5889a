#pragma once

#include "headroom/strategy.hpp"

namespace headroom {

/// A communication group as the network sees it: `size` ranks, `per_domain` of them in each scale-up
/// domain. size = per_domain * domains (rounded up where it does not divide).
struct Group {
    int size = 1;
    int per_domain = 1;
    [[nodiscard]] int domains() const { return (size + per_domain - 1) / per_domain; }
    bool operator==(Group const&) const = default;
};

/// The group of `size` ranks that are `stride` apart in rank order, on domains of `domain` ranks.
Group group_of(int size, int stride, int domain);

/// Which links the groups of each dimension cross. Ranks are laid out tensor first, then context,
/// then data, then pipeline (Megatron's default order): tensor groups are neighbours.
struct Placement {
    Group tensor, context, data, shard, replicate, pipeline;
    bool pipeline_leaves_domain = false; ///< a stage boundary crosses the scale-out network
};
Placement place(Strategy const& strategy, int domain);

} // namespace headroom
