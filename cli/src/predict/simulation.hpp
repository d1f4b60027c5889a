#pragma once

#include "document/document.hpp"

#include "headroom/training_answers.hpp"

#include <vector>

namespace headroom::cli {

std::vector<Block> simulation_blocks(Simulation const& simulation);

} // namespace headroom::cli
