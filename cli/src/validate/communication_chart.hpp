#pragma once

#include "headroom/document/document.hpp"
#include "headroom/fit/communication_validation.hpp"

#include <optional>
#include <vector>

namespace headroom::cli {

using namespace headroom::document;

/// Predicted over measured against size: fitted and unfitted, one point a row. Empty with fewer than two.
std::optional<Chart> ratio_chart(std::vector<fit::CommunicationComparison> const& rows);

} // namespace headroom::cli
