#pragma once

#include "headroom/machine.hpp"
#include "headroom/training/framework.hpp"
#include "headroom/training/strategy.hpp"

#include <optional>
#include <string_view>

namespace headroom::io {

// Refusals of what a training question states and its machine or software does not have.

/// Sets the power that an accelerator may draw, where it is stated.
/// Errors: InputError{usage} where the limit is none: nothing, or above the board's power, or the board's is not known.
void limit_power(std::optional<Watts> limit, Accelerator& chip);

/// Refuses scales of FP8 products where products are in another format.
/// Errors: InputError{usage}.
void refuse_idle_recipe(training::PartialStrategy const& given, training::Framework const& framework);

/// Refuses software that the user names and that does not exist for an accelerator: a framework whose record names the vendors it is for, and bitsandbytes'
/// 8-bit states and 4- or 8-bit weights on TPUs and Trainium, and an attention kernel that its library does not have for the accelerator.
/// Errors: InputError{impossible}.
void check_software(training::Framework const& framework, std::optional<training::FrozenFormat> frozen,
                    std::string_view optimizer, std::optional<training::AttentionKernel> attention,
                    Accelerator const& chip);

} // namespace headroom::io
