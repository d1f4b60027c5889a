#pragma once

#include "validate/validation_report.hpp"

namespace headroom::cli {

/// Coverage and width of 90 % intervals by how far a run lay outside what was fitted; no rows without left-out constants.
Table bands_table(ValidationReport const& report);
Json bands_json(ValidationReport const& report);

} // namespace headroom::cli
