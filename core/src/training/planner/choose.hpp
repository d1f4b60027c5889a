#pragma once

#include "headroom/training/plan.hpp"

#include <cstddef>
#include <span>

namespace headroom::training::planner {

/// A strategy with its priced step.
struct PricedStrategy {
    Strategy strategy;
    Seconds step;
};

/// Index of the strategy to recommend: the simplest of those within `step_tie` of the first, which is the fastest. The list is
/// in order of time; `domain`: accelerators of a scale-up domain.
std::size_t simplest_of_ties(std::span<PricedStrategy const> by_time, int domain);

} // namespace headroom::training::planner
