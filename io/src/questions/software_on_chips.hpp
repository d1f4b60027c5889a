#pragma once

#include "headroom/machine.hpp"
#include "headroom/training/framework.hpp"

#include <optional>
#include <string_view>

namespace headroom::io {

/// Refuses software that the user names and that does not exist for an accelerator: a framework whose record names the vendors it is for, and bitsandbytes'
/// 8-bit states and 4- or 8-bit weights on TPUs and Trainium, and an attention kernel that its library does not have for the accelerator.
/// Errors: InputError{impossible}.
void check_software(training::Framework const& framework, std::optional<training::FrozenFormat> frozen,
                    std::string_view optimizer, std::optional<training::AttentionKernel> attention,
                    Accelerator const& chip);

} // namespace headroom::io
