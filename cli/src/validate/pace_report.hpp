#pragma once

#include "headroom/document/document.hpp"
#include "headroom/training/validation_answer.hpp"

namespace headroom::cli {

using namespace headroom::document;

/// Factor of each framework with kernels of its own, and without each source; rows for frameworks of compared runs.
Table pace_table(training::ValidationAnswer const& answer);

} // namespace headroom::cli
