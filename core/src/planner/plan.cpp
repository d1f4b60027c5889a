#include "advice.hpp"
#include "curve.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace headroom {
namespace {

using planner::step_of;

constexpr double knee_gain = 1.6; ///< speedup of a doubling that is worth taking

void check(PlanQuestion const& question) {
    auto const refuse = [](char const* where, char const* problem, char const* why, char const* hint) {
        throw InputError{Fault::usage, {.where = where, .problem = problem, .why = why, .hint = hint}};
    };
    bool const priced = question.cluster.price.has_value();
    if (question.space.workers.empty()) {
        refuse("workers", "no count is given", "the curve needs one", "give --workers 8..1024");
    }
    if (question.tokens && !(*question.tokens > 0.0)) {
        refuse("tokens", "not above zero", "a run trains on some", "");
    }
    if (question.deadline && !question.tokens) {
        refuse("deadline", "no tokens are given", "a duration needs the length of the run", "give --tokens 2T");
    }
    if (question.budget && !question.tokens) {
        refuse("budget", "no tokens are given", "a cost needs the length of the run", "give --tokens 2T");
    }
    if (question.budget && !priced) { refuse("budget", "no price is known", "a cost needs one", "give --price 2.95"); }
    if (question.value_of_time && !priced) {
        refuse("value of time", "no price is known", "it is weighed against dollars", "give --price 2.95");
    }
}

CurvePoint point_of(SearchResult const& result, PlanQuestion const& question, CalibrationSet const& calibration) {
    CurvePoint point;
    point.workers = result.workers;
    point.counts = result.counts;
    point.feasible = !result.best.empty();
    if (!point.feasible) {
        point.why_not = result.nothing_because;
        return point;
    }
    point.prediction = predict({.model = question.model,
                                .cluster = question.cluster,
                                .framework = question.framework,
                                .workload = question.workload,
                                .strategy = result.best.front(),
                                .disturbance = question.disturbance,
                                .assumptions = question.assumptions,
                                .tokens = question.tokens},
                               calibration);
    point.runners_up.assign(result.best.begin() + 1, result.best.end());
    point.runners_up_step.assign(result.step.begin() + 1, result.step.end());
    point.runners_up_memory.assign(result.memory.begin() + 1, result.memory.end());

    double const rate = point.prediction->tokens_per_second;
    if (question.tokens) { point.duration = Seconds{*question.tokens / rate}; }
    if (auto const price = question.cluster.price) {
        if (point.duration) { point.cost = point.workers * *price * *point.duration; }
        if (price->base() > 0.0) {
            point.tokens_per_dollar = rate / (point.workers * price->base());
            point.dollars_per_million_tokens = 1e6 / *point.tokens_per_dollar;
        }
    }
    return point;
}

void compare_with_smaller(std::vector<CurvePoint>& curve) {
    CurvePoint const* smallest = nullptr;
    CurvePoint const* before = nullptr;
    for (CurvePoint& point : curve) {
        if (!point.feasible) { continue; }
        if (!smallest) { smallest = &point; }
        point.speedup = step_of(*smallest) / step_of(point);
        point.efficiency = point.speedup * smallest->workers / point.workers;
        if (before) {
            point.marginal_speedup_per_doubling =
                marginal_speedup_per_doubling(step_of(*before), step_of(point), before->workers, point.workers);
        }
        before = &point;
    }
}

/// The point of the least key; the first of equals.
template <class Key> std::optional<std::size_t> least(std::vector<std::size_t> const& points, Key key) {
    auto const found = std::ranges::min_element(points, {}, key);
    return found == points.end() ? std::nullopt : std::optional{*found};
}

std::optional<std::size_t> knee(Plan const& plan, std::vector<std::size_t> const& feasible) {
    std::optional<std::size_t> reached;
    Seconds fastest{};
    for (std::size_t const i : feasible) {
        CurvePoint const& point = plan.curve[i];
        bool const faster = !reached || step_of(point) < fastest;
        if (!reached || (faster && *point.marginal_speedup_per_doubling >= knee_gain)) { reached = i; }
        if (faster) { fastest = step_of(point); }
    }
    return reached;
}

std::optional<std::size_t> recommended(Plan const& plan) {
    PlanQuestion const& question = plan.question;
    auto candidates = planner::feasible_points(plan);
    auto const time = [&](std::size_t i) { return step_of(plan.curve[i]); };
    auto const cost = [&](std::size_t i) {
        return std::pair{planner::token_bill(plan.curve[i], question.cluster), time(i)};
    };
    if (question.deadline || question.budget) {
        std::erase_if(candidates, [&](std::size_t i) {
            CurvePoint const& point = plan.curve[i];
            return (question.deadline && *point.duration > *question.deadline) ||
                   (question.budget && *point.cost > *question.budget);
        });
        return least(candidates, cost);
    }
    if (question.value_of_time) {
        // a token's share of both sides: dollars, and the time during which the whole cluster makes it
        return least(candidates, [&](std::size_t i) {
            CurvePoint const& point = plan.curve[i];
            return planner::token_bill(point, question.cluster) +
                   question.value_of_time->base() / point.prediction->tokens_per_second;
        });
    }
    switch (question.objective) {
    case Objective::time: return least(candidates, time);
    case Objective::cost: return least(candidates, cost);
    case Objective::knee: break;
    }
    return knee(plan, candidates);
}

std::optional<int> stop_workers(Plan const& plan) {
    std::optional<int> found;
    std::optional<Seconds> fastest_later;
    auto const feasible = planner::feasible_points(plan);
    // from the largest down: a size stays the answer while nothing beyond it is faster by the threshold
    for (auto i = feasible.rbegin(); i != feasible.rend(); ++i) {
        CurvePoint const& point = plan.curve[*i];
        if (!fastest_later || *fastest_later >= step_of(point) * (1.0 - planner::stop_gain)) { found = point.workers; }
        fastest_later = fastest_later ? std::min(*fastest_later, step_of(point)) : step_of(point);
    }
    return found;
}

std::vector<std::size_t> pareto_points(Plan const& plan) {
    auto const feasible = planner::feasible_points(plan);
    auto const time = [&](std::size_t i) { return step_of(plan.curve[i]); };
    auto const bill = [&](std::size_t i) { return planner::token_bill(plan.curve[i], plan.question.cluster); };
    auto const beats = [&](std::size_t a, std::size_t b) {
        return time(a) <= time(b) && bill(a) <= bill(b) && (time(a) < time(b) || bill(a) < bill(b));
    };
    std::vector<std::size_t> front;
    std::ranges::copy_if(feasible, std::back_inserter(front), [&](std::size_t b) {
        return std::ranges::none_of(feasible, [&](std::size_t a) { return beats(a, b); });
    });
    return front;
}

} // namespace

double marginal_speedup_per_doubling(Seconds before, Seconds after, int workers_before, int workers_after) {
    double const doublings = std::log2(static_cast<double>(workers_after) / workers_before);
    return std::pow(before / after, 1.0 / doublings);
}

Plan make_plan(PlanQuestion const& question, CalibrationSet const& calibration, std::stop_token const& stop) {
    check(question);
    Plan plan;
    plan.question = question;
    plan.assumptions = question.assumptions;
    plan.question.space.pace = pace_of(question.framework, calibration);
    auto& workers = plan.question.space.workers;
    std::ranges::sort(workers);
    workers.erase(std::unique(workers.begin(), workers.end()), workers.end());

    Calibration const constants = calibration.values();
    StepSetting const setting{.model = plan.question.model,
                              .cluster = plan.question.cluster,
                              .framework = plan.question.framework,
                              .constants = constants,
                              .workload = plan.question.workload,
                              .disturbance = plan.question.disturbance};
    for (SearchResult const& result : search(setting, plan.question.space, question.top, stop)) {
        plan.curve.push_back(point_of(result, plan.question, calibration));
        plan.counts += result.counts;
    }
    plan.complete = plan.curve.size() == workers.size();
    compare_with_smaller(plan.curve);
    plan.recommended = recommended(plan);
    plan.stop.workers = stop_workers(plan);
    plan.pareto = pareto_points(plan);

    plan.stop.reason = planner::stop_reason_of(plan);
    plan.verdict = planner::verdict_of(plan);
    plan.reasons = planner::reasons_of(plan);
    plan.checklist = planner::checklist_of(plan);
    return plan;
}

} // namespace headroom
