#pragma once

#include "headroom/memory.hpp"
#include "headroom/prediction.hpp"

#include <optional>
#include <vector>

namespace headroom::cli {

double accelerators(Prediction const& prediction);
/// Model work of one accelerator in a second.
FlopsPerSecond model_rate(Prediction const& prediction);
/// Dollars for a million tokens; empty without a price.
std::optional<double> dollars_per_million(Prediction const& prediction);
/// What the speedup cannot pass; none where nothing is serial.
std::optional<double> ceiling_of(Prediction const& prediction);
/// Memory of every stage of the pipeline.
std::vector<MemoryUse> stages_of(Prediction const& prediction);

} // namespace headroom::cli
