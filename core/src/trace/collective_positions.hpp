#pragma once

#include "collective_align.hpp"
#include "collective_channels.hpp"

#include <vector>

namespace headroom::trace {

/// Assignment of the runs of a channel to collectives.
struct ChannelPositions {
    std::size_t reference = 0;                      ///< the member whose order is that of the positions
    std::size_t count = 0;                          ///< of positions
    std::vector<std::vector<std::int32_t>> at = {}; ///< by member and its run in the channel: the position
    bool by_sequence = false;                       ///< from stated numbers
    std::int64_t disagreeing = 0;                   ///< runs of another name than the others at their number
};

/// The k-th collective of all members: by stated sequence numbers where every run has one and they tell runs apart,
/// else by order, see `partners_in`.
ChannelPositions positions_of(CollectiveChannel const& channel, std::span<RankRuns const* const> order);

} // namespace headroom::trace
