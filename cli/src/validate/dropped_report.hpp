#pragma once

#include "headroom/document/document.hpp"
#include "headroom/training/validation.hpp"

namespace headroom::cli {

using namespace headroom::document;

/// How many suspect rows each rule of validation/README.md drops, and which; empty where none is.
Table dropped_table(training::Validation const& validation);

} // namespace headroom::cli
