#pragma once

#include "headroom/training/stream_simulation.hpp"

namespace headroom::training::simulation {

/// Rate of a kernel at full speed: rates are counted in millionths, so a slowdown of six decimals is exact.
inline constexpr Ticks whole_rate = 1'000'000;
/// Rate that a kernel loses while the network is busy, millionths.
Ticks lost_rate(StreamProgram const& program);

/// Throws for invalid programs: see `run_streams`.
void check_program(StreamProgram const& program);

} // namespace headroom::training::simulation
