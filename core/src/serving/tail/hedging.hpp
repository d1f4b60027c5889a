#pragma once

#include "sample_steps.hpp"

#include "headroom/serving/fan_out.hpp"

namespace headroom::serving {

/// The smaller of X and delay + X', both of these steps.
SampleSteps smaller_of(SampleSteps const& steps, double delay);

/// Answer of `hedged_request`, of steps.
Hedge hedged(SampleSteps const& steps, double delay);

} // namespace headroom::serving
