#pragma once

#include "headroom/trace/trace_answer.hpp"

#include <vector>

namespace headroom::trace {

/// Place of a drawn step on the common clock of its ranks.
struct StepClock {
    std::vector<Ticks> shift; ///< by rank of the answer: to be added to times of its graph
    Ticks end = 0;            ///< last end of a task; the first step begins at 0
};

/// Clock of a drawing: absolute clocks less their offsets. Ranks whose clocks cannot be compared begin their steps together.
StepClock step_clock_of(TraceAnswer const& answer);

/// Time at which each piece of the critical path ends in a drawing: the end of its work; for several tasks with delays
/// between them, the begin of the next piece.
std::vector<Ticks> drawn_ends(PathAnswer const& path);

} // namespace headroom::trace
