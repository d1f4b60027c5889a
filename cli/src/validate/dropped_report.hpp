#pragma once

#include "headroom/document/document.hpp"
#include "headroom/training/validation.hpp"

namespace headroom::cli {

using namespace headroom::document;

/// Suspect rows that each rule of validation/README.md drops, with their number; empty where there is none.
Table dropped_table(training::Validation const& validation);

} // namespace headroom::cli
