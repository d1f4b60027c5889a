#pragma once

#include "comm/comm_report.hpp"

#include <vector>

namespace headroom::cli {

/// The algorithms side by side: over sizes at the most ranks, and over ranks at the largest size. One that would have
/// a single point is left out.
std::vector<Chart> comm_charts(network::CommAnswer const& answer);

} // namespace headroom::cli
