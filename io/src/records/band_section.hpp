#pragma once

#include "records/record.hpp"

#include "headroom/training/extrapolation.hpp"

#include <string>
#include <string_view>

namespace headroom::io {

/// One band: low, high, coverage, rows, sources.
training::Band read_band(Section section);
/// The bands of a section, by kind of extrapolation; others of its keys are not read.
training::Bands read_bands(Section section);
std::string written_bands(std::string_view section, training::Bands const& bands);

/// Generations and frameworks of the runs to which the constants were fitted, dense runs and mixtures apart.
training::Seen read_seen(Section section);
std::string written_seen(std::string_view section, training::Seen const& seen);

} // namespace headroom::io
