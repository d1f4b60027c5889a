#pragma once

#include "headroom/measurement.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// A fact that two measurements do not share; nothing on a side that does not say it.
struct FactDifference {
    std::string name;
    std::optional<std::string> first, second;
};

/// In the order of the first, then of the second.
std::vector<FactDifference> differences(Facts const& first, Facts const& second);

/// Facts of a moment rather than of a machine: its load, its clock just then, the memory that was free.
bool is_momentary(std::string_view name);

/// Whether these are facts of one machine in one state, but for what changes from moment to moment.
bool same_machine(Facts const& first, Facts const& second);

} // namespace headroom::cli
