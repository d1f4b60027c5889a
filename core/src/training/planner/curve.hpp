#pragma once

#include "headroom/training/plan.hpp"

#include <optional>
#include <vector>

/// Questions to a plan's curve.
namespace headroom::training::planner {

/// Of a feasible point.
Seconds step_of(CurvePoint const& point);

/// What a feasible point is compared by: its pace.
Seconds time_of(CurvePoint const& point);

/// What a token costs at a feasible size, for comparing sizes: in dollars when a price is known, else in
/// accelerator-seconds. Failures and samples that a large batch wastes are in it.
double token_bill(CurvePoint const& point, Cluster const& cluster);

/// What a token costs at `a` over what it costs at `b`.
double bill_ratio(Plan const& plan, CurvePoint const& a, CurvePoint const& b);

/// The feasible points of the curve, ascending in workers.
std::vector<std::size_t> feasible_points(Plan const& plan);

/// The first feasible, or infeasible, point beyond a size; null when there is none.
CurvePoint const* feasible_after(Plan const& plan, int workers);
CurvePoint const* infeasible_after(Plan const& plan, int workers);

/// The point of a size; null when there is no size, or the curve does not have it.
CurvePoint const* point_at(Plan const& plan, std::optional<int> workers);

} // namespace headroom::training::planner
