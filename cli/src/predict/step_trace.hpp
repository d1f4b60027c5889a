#pragma once

#include "headroom/training/simulated_step.hpp"

#include <string>

namespace headroom::cli {

/// A simulated step as a Chrome trace: a process a stage, a thread a stream of it, an event a task, picoseconds exactly.
std::string step_trace(training::SimulatedStep const& step);

} // namespace headroom::cli
