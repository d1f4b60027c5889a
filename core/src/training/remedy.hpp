#pragma once

#include "headroom/memory.hpp"

#include <string>

namespace headroom {

/// In words: by how much a strategy needs more than `usable`, and which changes would make it fit, cheapest in
/// time first.
std::string why_it_does_not_fit(StepSetting const& setting, Strategy const& strategy, MemoryUse const& memory,
                                Bytes usable);

} // namespace headroom
