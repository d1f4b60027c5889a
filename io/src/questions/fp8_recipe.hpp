#pragma once

#include "headroom/training/framework.hpp"
#include "headroom/training/strategy.hpp"

namespace headroom::io {

/// Refuses scales of FP8 products where products are in another format.
/// Errors: InputError{usage}.
void refuse_idle_recipe(training::PartialStrategy const& given, training::Framework const& framework);

} // namespace headroom::io
