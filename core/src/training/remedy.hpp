#pragma once

#include "headroom/training/memory.hpp"
#include "headroom/training/prediction.hpp"

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

/// In words: which changes would make it fit, with what each adds to the step; without any, what else there is.
std::string remedy_words(Question const& question, Seconds step, std::span<MemoryRemedy const> remedies);

/// In words: by how much the device's memory is too small, with fragmentation, context and libraries.
std::string memory_missing(MemoryUse const& memory, Bytes capacity);

} // namespace headroom::training
