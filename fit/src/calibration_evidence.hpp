#pragma once

#include "headroom/fit/calibration_answer.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace headroom::fit {

/// Rows of collectives, constants and machines, and steps, by the kind of each campaign.
void take_campaigns(std::span<measure::Campaign const> campaigns, CalibrationQuestion const& question,
                    CalibrationAnswer& answer);

/// Keeps everything that a calibration file states, or notes what is left out.
void take_file(FileEvidence file, CalibrationQuestion const& question, CalibrationAnswer& answer);

void fit_and_join_links(CalibrationQuestion const& question, CalibrationAnswer& answer);

/// "2026-11-22"; empty for 0.
std::string day_of(std::int64_t since_1970_ns);

} // namespace headroom::fit
