#pragma once

#include "headroom/plan.hpp"

#include <string>
#include <vector>

namespace headroom::planner {

/// What a token costs at a feasible size, for comparing sizes: in dollars when a price is known, else in
/// accelerator-seconds.
double token_bill(CurvePoint const& point, Cluster const& cluster);

/// The feasible points of the curve, ascending in workers.
std::vector<std::size_t> feasible_points(Plan const& plan);

// In words, from a plan whose numbers are complete. Each reads the plan and changes nothing.
std::string verdict_of(Plan const& plan);
std::vector<std::string> reasons_of(Plan const& plan);
std::string stop_reason_of(Plan const& plan);
std::vector<ChecklistItem> checklist_of(Plan const& plan);

} // namespace headroom::planner
