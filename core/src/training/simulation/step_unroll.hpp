#pragma once

#include "step_data.hpp"

#include "headroom/training/simulated_step.hpp"

#include <string>

namespace headroom::training::simulation {

/// The part of a long run whose time is told, where no flush parts the steps: on each stage from the end of a kernel to that of
/// another, so many micro-batches later.
struct SteadyPart {
    std::vector<std::array<laws::TaskId, 2>> kernels; ///< by stage; none: the run is one step
    double share = 1.0;                               ///< micro-batches of a step over those of the part
};

/// A step as tasks on streams, or why it was not written.
struct UnrolledStep {
    StreamProgram program; ///< streams of stage s: those from `role_count` s on that are used
    std::vector<std::array<StreamId, role_count>> streams; ///< by stage
    std::vector<TaskPlace> places;                         ///< by task, where they are asked for
    SteadyPart steady;
    std::vector<std::string> stood_in; ///< for collectives by messages, why
    std::string refused;
    bool complete = true; ///< whether nobody asked to stop
};

inline constexpr StreamId no_stream = 0xFFFF;

/// Writes a step; with `recurrence` its tasks go there one by one instead of into the program.
UnrolledStep unroll_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                         SimulationOptions const& options, class StepRecurrence* recurrence = nullptr);

} // namespace headroom::training::simulation
