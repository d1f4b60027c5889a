#pragma once

#include "headroom/training/stream_simulation.hpp"

namespace headroom::training::simulation {

/// Parts of a rate that a kernel loses at most, in millionths: so a share given to six places is exact.
inline constexpr Ticks whole_rate = 1'000'000;
/// Millionths of the slowdown.
Ticks lost_rate(StreamProgram const& program);

/// Throws for invalid programs: see `run_streams`.
void check_program(StreamProgram const& program);

} // namespace headroom::training::simulation
