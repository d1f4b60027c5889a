#pragma once

#include "step_data.hpp"

#include "headroom/training/simulated_step.hpp"

#include <string>

namespace headroom::training::simulation {

/// Measured part of a long run without flush: on each stage from the end of the last kernel of one micro-batch to that of
/// the micro-batch `LongRun::measured` later.
struct SteadyPart {
    std::vector<std::array<laws::TaskId, 2>> kernels; ///< by stage; empty: the run is one step
    double share = 1.0;                               ///< micro-batches of a step over those of the measured part
};

/// A step as tasks on streams, or the reason why it was not unrolled.
struct UnrolledStep {
    StreamProgram program;
    std::vector<std::array<StreamId, role_count>> streams; ///< by stage
    std::vector<TaskPlace> places;                         ///< by task, on request
    SteadyPart steady;
    std::vector<std::string> stood_in; ///< reasons why collectives are not priced by messages
    std::string refused;
    bool complete = true; ///< false if a stop was requested
};

inline constexpr StreamId no_stream = 0xFFFF;

/// Writes a step; with `recurrence` its tasks go there one by one instead of into the program.
UnrolledStep unroll_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                         SimulationOptions const& options, class StepRecurrence* recurrence = nullptr);

} // namespace headroom::training::simulation
