#pragma once

#include "headroom/training/assume.hpp"

#include <vector>

namespace headroom::training {

/// Notes on a strategy that change no number of the prediction and widen no interval: stages of unequal length, an
/// attention window longer than the sequence, requirements of the schedule, the spread of experts over ranks, groups
/// that do not fill the scale-up domains (of `domain` accelerators) evenly, and blocks that are counted although the
/// model's parameter count excludes them.
std::vector<Assumption> consequences(Strategy const& strategy, Model const& model, Workload const& workload,
                                     int domain);

} // namespace headroom::training
