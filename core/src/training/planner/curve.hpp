#pragma once

#include "headroom/laws/laws.hpp"
#include "headroom/training/plan.hpp"

#include <optional>
#include <vector>

/// Questions to a plan's curve.
namespace headroom::training::planner {

/// Step time of a feasible point.
Seconds step_of(CurvePoint const& point);

/// Time by which feasible points are compared: seconds a useful step.
Seconds time_of(CurvePoint const& point);

/// Cost of a token at a feasible size, for comparing sizes: in dollars when a price is known, else in
/// accelerator-seconds. Includes failures, and samples that a batch above the critical one wastes.
double token_bill(CurvePoint const& point, Cluster const& cluster);

/// Cost of a token at `a` over that at `b`.
double bill_ratio(Plan const& plan, CurvePoint const& a, CurvePoint const& b);

/// The feasible points of the curve, ascending in workers.
std::vector<std::size_t> feasible_points(Plan const& plan);

/// The first feasible, or infeasible, point beyond a size; null when there is none.
CurvePoint const* feasible_after(Plan const& plan, int workers);
CurvePoint const* infeasible_after(Plan const& plan, int workers);

/// The point of a size; null when there is no size, or the curve does not have it.
CurvePoint const* point_at(Plan const& plan, std::optional<int> workers);

/// The last of `points` that is faster than all before it and for which the doubling from the point before gave
/// `laws::knee_gain`; the first needs no gain. Empty without points. `time(i)`, `gain(before, i)`.
template <class Time, class Gain>
std::optional<std::size_t> knee_of(std::vector<std::size_t> const& points, Time time, Gain gain) {
    if (points.empty()) { return std::nullopt; }
    std::size_t knee = points.front(), fastest = knee;
    for (std::size_t k = 1; k < points.size(); ++k) {
        if (!(time(points[k]) < time(fastest))) { continue; }
        fastest = points[k];
        if (gain(points[k - 1], fastest) >= laws::knee_gain) { knee = fastest; }
    }
    return knee;
}

} // namespace headroom::training::planner
