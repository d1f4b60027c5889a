#pragma once

#include "headroom/machine.hpp"

#include <optional>

namespace headroom::io {

/// Sets the power that an accelerator may draw, where it is stated.
/// Errors: InputError{usage} where the limit is none: nothing, or above the board's power, or the board's is not known.
void limit_power(std::optional<Watts> limit, Accelerator& chip);

} // namespace headroom::io
