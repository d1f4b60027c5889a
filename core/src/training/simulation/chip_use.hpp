#pragma once

#include "stream_order.hpp"

#include "headroom/training/stream_simulation.hpp"

#include <vector>

namespace headroom::training::simulation {

/// Time budget of every chip over a run; O(tasks x streams of a chip).
std::vector<ChipUse> use_of_chips(StreamProgram const& program, StreamOrder const& order, StreamRun const& run);

} // namespace headroom::training::simulation
