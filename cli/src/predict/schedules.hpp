#pragma once

#include "headroom/document/document.hpp"
#include "headroom/training/training_answers.hpp"

#include <vector>

namespace headroom::cli {

using namespace headroom::document;

std::vector<Block> schedule_comparison(std::vector<training::ScheduleOutcome> const& outcomes);

} // namespace headroom::cli
