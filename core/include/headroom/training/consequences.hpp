#pragma once

#include "headroom/training/assume.hpp"

#include <vector>

namespace headroom::training {

/// What a strategy means for a model beyond its own numbers, in words: stages of unequal length, a window that the
/// sequence never fills, what a schedule asks for, how experts are spread, groups that do not fill the scale-up domains
/// (of `domain` accelerators) evenly, blocks that are counted though the model's parameters leave them out. Nothing is
/// decided here, so none of it widens an interval.
std::vector<Assumption> consequences(Strategy const& strategy, Model const& model, Workload const& workload,
                                     int domain);

} // namespace headroom::training
