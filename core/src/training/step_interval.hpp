#pragma once

#include "headroom/training/logged_steps.hpp"

#include <cstdint>
#include <span>

namespace headroom::training {

/// Seconds a step of a steady line, and the steps that it covers.
struct SteadyLine {
    double seconds = 0.0, steps = 1.0;
    std::int64_t number = 0; ///< of its last step
};

/// Sets the step of the steady lines, its interval and its drift: their median, or the mean where steps are of several times.
void set_step(SteadyStep& steady, std::span<SteadyLine const> lines, double half_unit);

} // namespace headroom::training
