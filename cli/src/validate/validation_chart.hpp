#pragma once

#include "headroom/document/document.hpp"
#include "headroom/training/validation.hpp"

#include <optional>
#include <vector>

namespace headroom::cli {

using namespace headroom::document;

/// Predicted against measured steps, one point a run that has both; empty with fewer than two. Of very many runs
/// every so many are drawn, and the caption says so.
std::optional<Chart> error_chart(std::vector<training::RunComparison> const& rows);

} // namespace headroom::cli
