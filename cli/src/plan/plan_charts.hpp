#pragma once

#include "headroom/document/document.hpp"
#include "headroom/training/plan.hpp"

#include <vector>

namespace headroom::cli {

using namespace headroom::document;

/// The figures of a plan: speedup over workers, time against cost, where each size's step and memory go. One that
/// has nothing to show is left out.
void add_charts(std::vector<Block>& blocks, training::Plan const& plan);

} // namespace headroom::cli
