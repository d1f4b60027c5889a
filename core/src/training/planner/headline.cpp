#include "curve.hpp"
#include "words.hpp"

#include <cmath>

namespace headroom::training {
namespace planner {
namespace {

/// "21.7 days (18.0 to 27.8)": the time of the run, with its interval in the same unit.
std::string span_with_interval(Seconds time, double low, double high) {
    std::string const whole = span_of(time);
    auto const space = whole.find(' ');
    std::string const unit = space == std::string::npos ? "" : whole.substr(space + 1);
    Seconds const scale = unit == "days"      ? units::day
                          : unit == "hours"   ? units::hour
                          : unit == "minutes" ? units::minute
                                              : units::s;
    if (unit != "days" && unit != "hours" && unit != "minutes") { return whole; }
    return whole + " (" + rounded((time * low).in(scale)) + " to " + rounded((time * high).in(scale)) + ")";
}

/// "1024 accelerators take 21.7 days (18.0 to 27.8) and $1.86M", "512 take 15.4 s a step".
std::string outcome(CurvePoint const& point, bool with_interval) {
    Prediction const& prediction = *point.prediction;
    double const low = prediction.interval.low / prediction.step(), high = prediction.interval.high / prediction.step();
    std::string text = with_interval ? counted(point.workers, "accelerator") : std::to_string(point.workers);
    text += point.workers == 1 ? " takes " : " take ";
    if (!point.duration) {
        text += format(prediction.step(), 3) + " a step";
        if (with_interval) {
            text += " (" + format(prediction.interval.low, 3) + " to " + format(prediction.interval.high, 3) + ")";
        }
        return text;
    }
    text += with_interval ? span_with_interval(*point.duration, low, high) : span_of(*point.duration);
    return point.cost ? text + " and " + money(*point.cost) : text;
}

/// The feasible size next to the chosen one: the smaller, whose last doubling it is, else the larger.
CurvePoint const* neighbour(Plan const& plan, CurvePoint const& chosen) {
    CurvePoint const* smaller = nullptr;
    for (std::size_t const index : feasible_points(plan)) {
        if (plan.curve[index].workers < chosen.workers) { smaller = &plan.curve[index]; }
    }
    return smaller != nullptr ? smaller : feasible_after(plan, chosen.workers);
}

/// "3.98x sooner for 1 % more", from the other size to the first.
std::string comparison(Plan const& plan, CurvePoint const& chosen, CurvePoint const& other) {
    double const gain = time_of(other) / time_of(chosen);
    double const bill = bill_ratio(plan, chosen, other);
    std::string text = gain >= 1.0 ? times(gain) + " sooner" : times(1.0 / gain) + " later";
    double const change = bill - 1.0;
    if (change > -0.005 && change < 0.005) { return text + " at the same cost"; }
    return text + " for " + percent(change > 0.0 ? change : -change) + (change > 0.0 ? " more" : " less");
}

/// " Only 6 optimizer steps of 1024 sequences: give a smaller --global-batch."
std::string too_few_steps(PlanQuestion const& question, CurvePoint const& chosen) {
    if (!chosen.steps || std::round(*chosen.steps) >= steps_of_a_run) { return {}; }
    std::string const batch = counted(chosen.global_batch, question.model.works_on_samples() ? "sample" : "sequence");
    std::string const remedy = question.batch_per_worker ? "--batch-per-worker" : "--global-batch";
    if (*chosen.steps < 1.0) {
        return " Less than one optimizer step of " + batch + ": check --tokens and " + remedy + ".";
    }
    return " Only " + counted(static_cast<int>(std::round(*chosen.steps)), "optimizer step") + " of " + batch +
           ": give a smaller " + remedy + ".";
}

} // namespace
} // namespace planner

std::string headline(Plan const& plan) {
    using namespace planner;
    if (!plan.recommended) { return {}; }
    CurvePoint const& chosen = plan.curve[*plan.recommended];
    PlanQuestion const& question = plan.question;
    std::string text = question.model.name + " on " + question.cluster.name;
    if (question.tokens) {
        text += ", " + format_count(*question.tokens) + (question.model.works_on_samples() ? " samples" : " tokens");
    }
    text += ": " + outcome(chosen, true);
    if (CurvePoint const* other = neighbour(plan, chosen)) {
        bool const larger = other->workers > chosen.workers; // from the smaller to the larger, as a reader compares
        text += "; " + outcome(*other, false) + ": " +
                (larger ? comparison(plan, *other, chosen) : comparison(plan, chosen, *other));
    }
    text += "." + too_few_steps(question, chosen);
    if (!question.failures && question.tokens) { text += " Not counted: failures (add --mtbf 50700h)."; }
    if (!question.tokens) { text += " Add --tokens for days and dollars."; }
    return text;
}

} // namespace headroom::training
