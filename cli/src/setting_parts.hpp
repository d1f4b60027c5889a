#pragma once

#include "headroom/document/document.hpp"
#include "headroom/training/assume.hpp"
#include "headroom/training/calibration.hpp"
#include "headroom/training/model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

using namespace headroom::document;

// Common output of several verbs on the setting that was read.

Table assumptions_table(std::vector<training::Assumption> const& assumptions);
/// "The architecture is not understood: parameters may be off by -23 to +0.3 %. "; empty for a model that is.
std::string unknown_model_words(training::Model const& model);
/// "12 fitted, 30 cited, 9 guessed (host-eager, ...)".
std::string provenance_summary(training::CalibrationSet const& calibration);

} // namespace headroom::cli
