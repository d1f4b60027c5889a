#pragma once

#include "validate/validation_report.hpp"

namespace headroom::cli {

/// The factor of each stack whose kernels are its own, and what it would be without each source; the table has those of which
/// a run was compared.
Table pace_table(ValidationReport const& report);
Json paces_json(ValidationReport const& report);

} // namespace headroom::cli
