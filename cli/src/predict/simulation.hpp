#pragma once

#include "document/document.hpp"

#include "headroom/training/training_answers.hpp"

#include <vector>

namespace headroom::cli {

std::vector<Block> simulation_blocks(training::Simulation const& simulation);

} // namespace headroom::cli
