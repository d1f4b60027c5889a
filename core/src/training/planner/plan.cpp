#include "advice.hpp"
#include "curve.hpp"
#include "training/remedy.hpp"

#include "headroom/error.hpp"
#include "headroom/laws/laws.hpp"

#include <algorithm>
#include <utility>

namespace headroom::training {

using namespace headroom::laws;

namespace {

using planner::time_of;

constexpr double largest_batch = 1e9; ///< sequences a step

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
    if (question.batch_per_worker && !question.space.workers.empty()) {
        double const largest =
            static_cast<double>(*question.batch_per_worker) * std::ranges::max(question.space.workers);
        if (largest > largest_batch) {
            refuse("batch per worker", "more than 1000000000 sequences a step", "it is multiplied by the workers",
                   "give a smaller one");
        }
    }
    if (question.value_of_time && !priced) {
        refuse("value of time", "no price is known", "it is weighed against dollars", "give --price 2.95");
    }
}

/// Sequences a step at one size: fixed, or in proportion to its workers.
Workload workload_at(PlanQuestion const& question, int workers) {
    Workload workload = question.workload;
    if (question.batch_per_worker) { workload.global_batch = *question.batch_per_worker * workers; }
    return workload;
}

/// A step with its share of failures and wasted samples, at the batch of the question. The step itself when there is
/// nothing of this.
Seconds pace_at(Prediction const& prediction, PlanQuestion const& question) {
    double const batches =
        static_cast<double>(question.workload.global_batch) / prediction.question.workload.global_batch;
    return prediction.step() * prediction.run_over_step() * batches;
}

void add_money(CurvePoint& point, std::optional<DollarsPerSecond> const& price) {
    if (!price) { return; }
    if (point.duration) { point.cost = point.workers * *price * *point.duration; }
    if (price->base() <= 0.0) { return; }
    Prediction const& prediction = *point.prediction;
    double const lost = prediction.goodput ? prediction.goodput->time_over_work : 1.0;
    point.tokens_per_dollar = prediction.tokens_per_second / (point.workers * price->base()) / lost;
    point.dollars_per_million_tokens = 1e6 / *point.tokens_per_dollar;
}

/// Chances of the limits that a run has.
void add_chances(CurvePoint& point, PlanQuestion const& question) {
    auto const chance = [&](double scale) {
        return probability_within(*point.prediction, point.prediction->step() * scale);
    };
    if (question.deadline && point.duration) {
        point.deadline_probability = chance(*question.deadline / *point.duration);
    }
    if (question.budget && point.cost && point.cost->base() > 0.0) {
        point.budget_probability = chance(*question.budget / *point.cost);
    }
}

Question question_at(PlanQuestion const& question, int workers, Strategy const& strategy) {
    return {.model = question.model,
            .cluster = question.cluster,
            .framework = question.framework,
            .workload = workload_at(question, workers),
            .strategy = strategy,
            .disturbance = question.disturbance,
            .assumptions = question.assumptions,
            .tokens = question.tokens,
            .failures = question.failures,
            .critical_batch = question.critical_batch};
}

CurvePoint point_of(SearchResult const& result, PlanQuestion const& question, CalibrationSet const& calibration) {
    CurvePoint point;
    point.workers = result.workers;
    point.global_batch = workload_at(question, result.workers).global_batch;
    point.counts = result.counts;
    point.feasible = !result.best.empty();
    point.given_up = result.given_up;
    if (!point.feasible) {
        point.why_not = result.nothing_because;
        return point;
    }
    Prediction prediction = predict(question_at(question, result.workers, result.best.front()), calibration);
    if (!prediction.progresses() || !host_holds(prediction.memory, question.cluster, result.workers)) {
        point.feasible = false;
        point.why_not = prediction.progresses() ? prediction.why_not : prediction.goodput->why_not;
        return point;
    }
    point.next_best = result.next_best;
    if (point.next_best) {
        point.next_best->why =
            planner::lost_because(*point.next_best, prediction.question.strategy, std::max(1, question.cluster.domain));
    }
    point.runners_up.assign(result.best.begin() + 1, result.best.end());
    point.runners_up_step.assign(result.step.begin() + 1, result.step.end());
    point.runners_up_memory.assign(result.memory.begin() + 1, result.memory.end());
    point.pace = pace_at(prediction, question);
    point.steps = run_steps(prediction);
    point.duration = run_time(prediction);
    point.productive = productive_time(prediction);
    point.prediction = std::move(prediction);
    add_money(point, question.cluster.price);
    add_chances(point, question);
    return point;
}

/// To the reason of the largest size, where none fits: changes that a search does not make, after which its leanest strategy
/// fits.
void add_remedies(Plan& plan, SearchResult const& largest, CalibrationSet const& calibration) {
    if (!largest.leanest || largest.given_up) { return; }
    Prediction const leanest = predict(question_at(plan.question, largest.workers, *largest.leanest), calibration);
    plan.curve.back().why_not += "; " + remedy_words(leanest.question, leanest.step(), leanest.remedies);
}

void compare_with_smaller(std::vector<CurvePoint>& curve, Seconds start) {
    CurvePoint const* smallest = nullptr;
    CurvePoint const* before = nullptr;
    for (CurvePoint& point : curve) {
        if (!point.feasible) { continue; }
        if (!smallest) { smallest = &point; }
        point.speedup = time_of(*smallest) / time_of(point);
        point.efficiency = point.speedup * smallest->workers / point.workers;
        if (before) {
            point.marginal_speedup_per_doubling =
                marginal_speedup_per_doubling(time_of(*before), time_of(point), before->workers, point.workers);
            if (before->duration && point.duration) {
                point.marginal_speedup_of_run = marginal_speedup_per_doubling(
                    start + *before->duration, start + *point.duration, before->workers, point.workers);
            }
        }
        before = &point;
    }
}

/// `search`, with a batch of its own at every size where the batch grows with them.
std::vector<SearchResult> search_sizes(PlanQuestion const& question, CalibrationSet const& calibration,
                                       std::stop_token const& stop) {
    Calibration const constants = calibration.values();
    StepSetting setting{.model = question.model,
                        .cluster = question.cluster,
                        .framework = question.framework,
                        .constants = constants,
                        .workload = question.workload,
                        .disturbance = question.disturbance};
    if (!question.batch_per_worker) { return search(setting, question.space, question.top, stop); }
    std::vector<SearchResult> results;
    for (int const workers : question.space.workers) {
        SearchSpace space = question.space;
        space.workers = {workers};
        setting.workload = workload_at(question, workers);
        auto found = search(setting, space, question.top, stop);
        if (found.empty()) { break; } // stopped
        results.push_back(std::move(found.front()));
    }
    return results;
}

/// The point of the least key; the first of equals.
template <class Key> std::optional<std::size_t> least(std::vector<std::size_t> const& points, Key key) {
    auto const found = std::ranges::min_element(points, {}, key);
    return found == points.end() ? std::nullopt : std::optional{*found};
}

std::optional<std::size_t> recommended(Plan const& plan) {
    PlanQuestion const& question = plan.question;
    auto candidates = planner::feasible_points(plan);
    auto const time = [&](std::size_t i) { return time_of(plan.curve[i]); };
    auto const cost = [&](std::size_t i) {
        return std::pair{planner::token_bill(plan.curve[i], question.cluster), time(i)};
    };
    if (question.deadline || question.budget) {
        std::erase_if(candidates, [&](std::size_t i) {
            CurvePoint const& point = plan.curve[i];
            return (question.deadline && *point.duration > *question.deadline) ||
                   (question.budget && *point.cost > *question.budget);
        });
        return question.objective == Objective::time ? least(candidates, time) : least(candidates, cost);
    }
    if (question.value_of_time) {
        // a token's share of both sides: dollars, and the time during which the whole cluster makes it
        return least(candidates, [&](std::size_t i) {
            CurvePoint const& point = plan.curve[i];
            return planner::token_bill(point, question.cluster) + question.value_of_time->base() /
                                                                      point.prediction->tokens_per_second *
                                                                      point.prediction->run_over_step();
        });
    }
    switch (question.objective) {
    case Objective::time: return least(candidates, time);
    case Objective::cost: return least(candidates, cost);
    case Objective::knee: break;
    }
    return planner::knee_of(candidates, time, [&](std::size_t, std::size_t i) {
        CurvePoint const& point = plan.curve[i];
        return point.marginal_speedup_of_run.value_or(point.marginal_speedup_per_doubling.value_or(1.0));
    });
}

std::optional<int> stop_workers(Plan const& plan) {
    std::optional<int> found;
    std::optional<Seconds> fastest_later;
    auto const feasible = planner::feasible_points(plan);
    // from the largest down: a size stays the answer while nothing beyond it is faster by the threshold
    for (auto i = feasible.rbegin(); i != feasible.rend(); ++i) {
        CurvePoint const& point = plan.curve[*i];
        if (!fastest_later || *fastest_later >= time_of(point) * (1.0 - planner::stop_gain)) { found = point.workers; }
        fastest_later = fastest_later ? std::min(*fastest_later, time_of(point)) : time_of(point);
    }
    return found;
}

std::vector<std::size_t> pareto_points(Plan const& plan) {
    auto const feasible = planner::feasible_points(plan);
    auto const time = [&](std::size_t i) { return time_of(plan.curve[i]); };
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

Seconds start_of(PlanQuestion const& question) {
    return question.failures ? question.failures->restart : default_restart;
}

Plan make_plan(PlanQuestion const& question, CalibrationSet const& calibration, std::stop_token const& stop) {
    check(question);
    Plan plan;
    plan.question = question;
    plan.assumptions = question.assumptions;
    plan.question.space.pace = pace_of(question.framework, question.model, calibration, question.cluster.accelerator,
                                       question.space.fixed.precision);
    plan.question.space.margin =
        memory_margin(calibration, question.framework, question.assumptions, question.memory_risk);
    auto& workers = plan.question.space.workers;
    std::ranges::sort(workers);
    workers.erase(std::unique(workers.begin(), workers.end()), workers.end());

    plan.question.workload = workload_at(question, workers.front());
    auto const found = search_sizes(plan.question, calibration, stop);
    for (SearchResult const& result : found) {
        plan.curve.push_back(point_of(result, plan.question, calibration));
        plan.counts += result.counts;
    }
    if (!found.empty() && plan.counts.feasible == 0) { add_remedies(plan, found.back(), calibration); }
    plan.complete = plan.curve.size() == workers.size();
    compare_with_smaller(plan.curve, start_of(question));
    plan.recommended = recommended(plan);
    if (plan.recommended) { plan.curve[*plan.recommended].recommended = true; }
    plan.stop.workers = stop_workers(plan);
    plan.pareto = pareto_points(plan);

    plan.stop.reason = planner::stop_reason_of(plan);
    plan.verdict = planner::verdict_of(plan);
    plan.reasons = planner::reasons_of(plan);
    plan.checklist = planner::checklist_of(plan);
    return plan;
}

} // namespace headroom::training
