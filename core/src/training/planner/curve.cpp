#include "curve.hpp"

#include <algorithm>

namespace headroom::training::planner {

Seconds step_of(CurvePoint const& point) { return point.prediction->step(); }

Seconds time_of(CurvePoint const& point) { return point.pace; }

double token_bill(CurvePoint const& point, Cluster const& cluster) {
    double const price = cluster.price ? cluster.price->base() : 1.0;
    return point.workers * price / point.prediction->tokens_per_second * point.prediction->run_over_step();
}

std::vector<std::size_t> feasible_points(Plan const& plan) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < plan.curve.size(); ++i) {
        if (plan.curve[i].feasible) { found.push_back(i); }
    }
    return found;
}

double bill_ratio(Plan const& plan, CurvePoint const& a, CurvePoint const& b) {
    return token_bill(a, plan.question.cluster) / token_bill(b, plan.question.cluster);
}

CurvePoint const* feasible_after(Plan const& plan, int workers) {
    auto const found = std::ranges::find_if(
        plan.curve, [&](CurvePoint const& point) { return point.feasible && point.workers > workers; });
    return found == plan.curve.end() ? nullptr : &*found;
}

CurvePoint const* infeasible_after(Plan const& plan, int workers) {
    auto const found = std::ranges::find_if(
        plan.curve, [&](CurvePoint const& point) { return !point.feasible && point.workers > workers; });
    return found == plan.curve.end() ? nullptr : &*found;
}

CurvePoint const* point_at(Plan const& plan, std::optional<int> workers) {
    auto const found =
        std::ranges::find_if(plan.curve, [&](CurvePoint const& point) { return workers && point.workers == *workers; });
    return found == plan.curve.end() ? nullptr : &*found;
}

} // namespace headroom::training::planner
