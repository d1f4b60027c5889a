#pragma once

#include "simulation/stream_order.hpp"

#include "headroom/stream_simulation.hpp"

#include <vector>

namespace headroom::simulation {

/// What every chip did while the program ran; O(tasks x streams of a chip).
std::vector<ChipUse> use_of_chips(StreamProgram const& program, StreamOrder const& order, StreamRun const& run);

} // namespace headroom::simulation
