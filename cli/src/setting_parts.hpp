#pragma once

#include "document/document.hpp"
#include "document/json.hpp"

#include "headroom/assume.hpp"
#include "headroom/calibration.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

// What several verbs show alike of the setting that was read.

Json assumptions_json(std::vector<Assumption> const& assumptions);
Json constants_json(CalibrationSet const& calibration);
Json model_json(Model const& model);
Json cluster_json(Cluster const& cluster);
Table assumptions_table(std::vector<Assumption> const& assumptions);
/// "12 fitted, 30 cited, 9 guessed (host-eager, ...)".
std::string provenance_summary(CalibrationSet const& calibration);

} // namespace headroom::cli
