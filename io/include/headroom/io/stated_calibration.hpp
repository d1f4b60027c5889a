#pragma once

#include "headroom/io/catalog.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

using headroom::training::StatedCalibration;

/// Errors: those of `read_calibration`.
training::StatedCalibration read_stated_calibration(std::string_view toml, std::string_view where);
/// As a partial calibration, whether it is whole or not.
std::string write_stated_calibration(training::StatedCalibration const& set, std::vector<std::string> const& header);

} // namespace headroom::io
