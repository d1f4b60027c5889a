#pragma once

#include "headroom/document/document.hpp"
#include "headroom/training/validation_answer.hpp"

#include <vector>

namespace headroom::cli {

using namespace headroom::document;

// Checks of `validate` next to the errors of single rows: the cost of choosing plans by prediction, larger runs given one
// measured run, and whether operations are counted as sources count them.

void add_choice(std::vector<Block>& blocks, training::PlanChoice const& choice, bool left_out);
void add_utilization(std::vector<Block>& blocks, training::UtilizationCheck const& check);
void add_scales(std::vector<Block>& blocks, training::ScaleValidation const& scales);

} // namespace headroom::cli
