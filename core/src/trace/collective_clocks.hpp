#pragma once

#include "collective_positions.hpp"

#include <vector>

namespace headroom::trace {

/// Channels with their positions.
struct PlacedChannel {
    CollectiveChannel channel;
    ChannelPositions positions;
};

/// Whether nobody can end such a collective before all have come.
bool ends_together(network::Collective collective);

/// Whether the processors of hosts do the collectives of a channel: their ends differ, and by no line.
bool of_hosts(CollectiveChannel const& channel, std::span<RankRuns const* const> order);

/// Offsets of all clocks against that of the first rank (of those that it is tied to by collectives).
///
/// Two ranks: the median over their common collectives of the difference of ends. Collectives whose ends may differ
/// (broadcasts, reduces, sends) do not count. Ranks without a common group are tied over others, along those ties that
/// are known best. A clock is corrected only where it differs by more than 25 us and more than 4 times the spread:
/// kernels of one collective end that far apart on one clock.
std::vector<ClockOffset> clocks_of(std::vector<PlacedChannel> const& placed, std::span<RankRuns const* const> order);

} // namespace headroom::trace
