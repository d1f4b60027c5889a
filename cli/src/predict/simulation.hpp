#pragma once

#include "headroom/document/document.hpp"
#include "headroom/training/training_answers.hpp"

#include <vector>

namespace headroom::cli {

using namespace headroom::document;

std::vector<Block> simulation_blocks(training::Simulation const& simulation);

} // namespace headroom::cli
