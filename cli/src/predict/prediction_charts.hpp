#pragma once

#include "document/document.hpp"

#include "headroom/prediction.hpp"

namespace headroom::cli {

/// One bar: the parts of a step that take any time.
StackedBars step_bars(Prediction const& prediction);

/// One bar: the memory of the fullest accelerator, against what it may use.
StackedBars memory_bars(Prediction const& prediction);

} // namespace headroom::cli
