#pragma once

#include "headroom/serving/tail_answer.hpp"

#include <string_view>

namespace headroom::serving {

/// A value as samples have it: of times with a unit, of plain numbers without.
/// Errors: InputError{usage} where it is written the other way.
double value_of(TailPoint const& point, bool times, std::string_view where);

} // namespace headroom::serving
