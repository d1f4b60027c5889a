#pragma once

#include "records/record.hpp"

#include "headroom/training/calibration.hpp"

#include <string>
#include <string_view>

namespace headroom::io {

/// [pace.FRAMEWORK] and [likeness.KIND] of a calibration file, and back.
training::Pace read_pace(Section section);
std::string written_pace(std::string_view name, training::Pace const& pace);
training::Likeness read_likeness(Section section);
std::string written_likeness(std::string_view name, training::Likeness const& likeness);

} // namespace headroom::io
