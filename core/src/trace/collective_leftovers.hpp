#pragma once

#include "collective_positions.hpp"

#include <vector>

namespace headroom::trace {

/// Gives positions to runs that the reference does not have but others do: those of equal calls whose ends, on the
/// reference's clock, are closer than a quarter of its usual time between ends. O(n log n) in the runs without a
/// position.
void join_leftovers(std::vector<CollectiveTrack> const& tracks, ChannelPositions& positions);

} // namespace headroom::trace
