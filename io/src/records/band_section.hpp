#pragma once

#include "records/record.hpp"

#include "headroom/extrapolation.hpp"

#include <string>
#include <string_view>

namespace headroom::io {

/// One band: low, high, coverage, rows, sources.
Band read_band(Section section);
/// The bands of a section, by kind of extrapolation; others of its keys are not read.
Bands read_bands(Section section);
std::string written_bands(std::string_view section, Bands const& bands);

/// What moved the constants, dense runs and mixtures apart: generations and frameworks.
Seen read_seen(Section section);
std::string written_seen(std::string_view section, Seen const& seen);

} // namespace headroom::io
