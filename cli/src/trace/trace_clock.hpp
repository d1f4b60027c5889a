#pragma once

#include "headroom/trace_answer.hpp"

#include <vector>

namespace headroom::cli {

/// Where the drawn step stands on the common clock of its ranks.
struct StepClock {
    std::vector<Ticks> shift; ///< by rank of the answer: to be added to times of its graph
    Ticks end = 0;            ///< last end of a task; the first step begins at 0
};

/// The clock of a drawing: absolute clocks less their offsets; ranks whose clocks are not tied begin their steps together.
StepClock step_clock_of(TraceAnswer const& answer);

/// When each piece of the path ends in a drawing: where its time is over, or where the next begins if it stands for
/// several tasks, with delays between them.
std::vector<Ticks> drawn_ends(PathAnswer const& path);

} // namespace headroom::cli
