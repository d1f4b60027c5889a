#pragma once

#include "step_data.hpp"

#include "headroom/simulated_step.hpp"

#include <string>

namespace headroom::simulation {

/// A step as tasks on streams, or why it was not written.
struct UnrolledStep {
    StreamProgram program; ///< streams of stage s: those from `role_count` s on that are used
    std::vector<std::array<StreamId, role_count>> streams; ///< by stage
    std::vector<TaskPlace> places;                         ///< by task, where they are asked for
    std::vector<std::string> stood_in;                     ///< for collectives by messages, why
    std::string refused;
    bool complete = true; ///< whether nobody asked to stop
};

inline constexpr StreamId no_stream = 0xFFFF;

UnrolledStep unroll_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                         SimulationOptions const& options);

} // namespace headroom::simulation
