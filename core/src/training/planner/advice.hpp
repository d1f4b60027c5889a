#pragma once

#include "headroom/training/plan.hpp"

#include <string>
#include <vector>

namespace headroom::training::planner {

constexpr double stop_gain = 0.02; ///< improvement of the step that still counts as one

/// "512 is 1.63x faster for 1.23x the cost"
std::string step_up(Plan const& plan, CurvePoint const& from, CurvePoint const& to);

/// Reason why the next best strategy is not the recommended one; `domain`: accelerators of a scale-up domain.
std::string lost_because(NextBest const& next, Strategy const& chosen, int domain);

// In words, from a plan whose numbers are complete. Each reads the plan and changes nothing.
std::string verdict_of(Plan const& plan);
std::vector<std::string> reasons_of(Plan const& plan);
std::string stop_reason_of(Plan const& plan);
std::vector<ChecklistItem> checklist_of(Plan const& plan);

} // namespace headroom::training::planner
