#pragma once

#include "headroom/training/prediction.hpp"

#include <string>

namespace headroom::cli {

/// Memory over a step as a Chrome trace: a process a stage with one counter, `memory`, in bytes. Its level is `total()` of the
/// passes under way, and its peak that of the closed form.
/// Errors: InputError{usage} for a schedule whose passes cannot be run one by one.
std::string memory_timeline(training::Prediction const& prediction, training::CalibrationSet const& calibration);

} // namespace headroom::cli
