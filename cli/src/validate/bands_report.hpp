#pragma once

#include "headroom/document/document.hpp"
#include "headroom/training/validation_answer.hpp"

namespace headroom::cli {

using namespace headroom::document;

/// Coverage and width of 90 % intervals by how far a run lay from those fitted; no rows without left-out constants.
Table bands_table(training::ValidationAnswer const& answer);

} // namespace headroom::cli
