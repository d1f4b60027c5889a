#pragma once

#include "headroom/document/document.hpp"
#include "headroom/training/accuracy_measures.hpp"

#include <vector>

namespace headroom::cli {

using namespace headroom::document;

/// Every figure that the step model is held to, with its bar, one a line.
Table measures_table(std::vector<training::AccuracyMeasure> const& measures);

} // namespace headroom::cli
