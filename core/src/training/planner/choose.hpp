#pragma once

#include "headroom/training/plan.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace headroom::training::planner {

/// A strategy with its priced step.
struct PricedStrategy {
    Strategy strategy;
    Seconds step;
};

/// Index of the strategy to recommend: the simplest of those within `step_tie` of the first, which is the fastest, that have no more chunks a
/// stage and no more domains a replica than it. The list is in order of time; `domain`: accelerators of a scale-up domain.
std::size_t simplest_of_ties(std::span<PricedStrategy const> by_time, int domain);

/// Whether a strategy that is not the fastest could be recommended in place of `chosen`, if its step is within the ties: it is
/// simpler, or as simple and `may_be_faster`.
bool may_replace(Strategy const& strategy, Strategy const& chosen, Strategy const& fastest, int domain,
                 bool may_be_faster);

/// First respect in which a strategy is less simple than the chosen one: "10 model chunks a stage instead of 5"; empty where there
/// is none.
std::string less_simple_because(Strategy const& strategy, Strategy const& chosen, int domain);

} // namespace headroom::training::planner
