#pragma once

#include "headroom/machine.hpp"
#include "headroom/training/framework.hpp"

#include <optional>
#include <string_view>

namespace headroom::io {

/// Refuses software that the user names and that does not exist for an accelerator: a framework whose record names the vendors it is for, and bitsandbytes'
/// 8-bit states and 4- or 8-bit weights on TPUs and Trainium.
/// Errors: InputError{impossible}.
void check_software(training::Framework const& framework, std::optional<training::FrozenFormat> frozen,
                    std::string_view optimizer, Accelerator const& chip);

} // namespace headroom::io
