#pragma once

#include "collective_clocks.hpp"

#include <span>
#include <vector>

namespace headroom::trace {

/// Channels with positions. Where more ranks share a name than its group has, there are several groups of one name:
/// the ranks are sorted into groups of the stated size by how constant the differences of their ends are, the lowest
/// rank first, each with those that are closest to it. Collectives of one group end together; those of another do not.
std::vector<PlacedChannel> placed_channels(std::vector<CollectiveChannel> channels,
                                           std::span<RankRuns const* const> order);

} // namespace headroom::trace
