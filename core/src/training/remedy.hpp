#pragma once

#include "headroom/training/memory.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace headroom::training {

/// Step time of a strategy, by the caller's method.
using StepPrice = std::function<Seconds(Strategy const&)>;

/// Changes after which a strategy is legal and fits on as many accelerators, the cheapest in time first, four at most. One
/// that holds a simpler one which fits already is left out, unless it is faster.
std::vector<MemoryRemedy> remedies_that_fit(StepSetting const& setting, Strategy const& strategy,
                                            StepPrice const& price);

/// In words: by how much a strategy needs more than `usable`, and which changes would make it fit, with what each adds to
/// the step. `splits`: whether the framework has tensor or pipeline ranks.
std::string why_it_does_not_fit(MemoryUse const& memory, Bytes usable, Seconds step,
                                std::span<MemoryRemedy const> remedies, bool splits);

} // namespace headroom::training
