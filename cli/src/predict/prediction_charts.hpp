#pragma once

#include "predict/passes.hpp"

#include "headroom/document/document.hpp"
#include "headroom/training/memory.hpp"
#include "headroom/training/prediction.hpp"
#include "headroom/training/training_answers.hpp"

#include <optional>
#include <vector>

namespace headroom::cli {

/// One bar: the parts of a step that take any time.
StackedBars step_bars(training::Prediction const& prediction);

/// One bar: the memory of the fullest accelerator, against what it may use.
StackedBars memory_bars(training::Prediction const& prediction);

/// Bars from the step as it is to the step with each change alone, the largest effect first.
StackedBars lever_bars(training::Prediction const& prediction, std::vector<training::LeverOutcome> const& levers);

/// Memory of at most so many stages in the course of the passes; empty where there is nothing to show.
std::optional<Chart> memory_chart(training::PassPicture const& picture,
                                  std::vector<training::StageMemoryCurve> const& stages,
                                  training::Prediction const& prediction, std::size_t most_stages);

} // namespace headroom::cli
