#pragma once

#include "collective_clocks.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headroom::trace {

/// Channels with positions, one for each process group.
struct PlacedGroups {
    std::vector<PlacedChannel> channels;
    std::int64_t sorted = 0; ///< channels without a name that are not one group of all ranks
    std::vector<std::string> notes;
};

/// Sorts the ranks of a channel into groups where it is none of a single group: where more ranks share a name than its
/// group has, and where nothing names a group and the ends of its collectives differ by more than 25 us and a twentieth
/// of their time. Collectives of one group end together, so the differences of their ends are constant; those of
/// another do not. The group of a rank is those closest to it, the lowest rank first. Without a name its size is the
/// stated one, else the largest that divides the ranks and fits. Where none fits, sends and receives, and collectives of
/// a stated size, are left without partners.
PlacedGroups placed_channels(std::vector<CollectiveChannel> channels, std::span<RankRuns const* const> order);

} // namespace headroom::trace
