#pragma once

#include "headroom/document/document.hpp"
#include "headroom/training/validation.hpp"

namespace headroom::cli {

using namespace headroom::document;

/// Predicted and measured memory, of every run that states it and counts, in the order of the table.
Table memory_table(training::Validation const& validation);

} // namespace headroom::cli
