#pragma once

#include "headroom/measure/measurement.hpp"

#include <filesystem>
#include <vector>

namespace headroom::cli {

/// Campaigns that other processes are measuring into this store right now, without points and samples; none where there
/// is no store yet. An empty path is no store.
std::vector<measure::Campaign> others_measuring(std::filesystem::path const& store);

} // namespace headroom::cli
