#include "advice.hpp"

#include "choose.hpp"
#include "curve.hpp"
#include "words.hpp"

#include "headroom/laws/laws.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::training::planner {
namespace {

/// One part of a step with the words for it.
struct Part {
    std::string_view name;
    Seconds StepTime::*time;
};
constexpr std::array parts{
    Part{"computation", &StepTime::compute},
    Part{"waiting for CPU launches", &StepTime::host},
    Part{"exposed tensor-parallel communication", &StepTime::tensor_communication},
    Part{"exposed context-parallel communication", &StepTime::context_communication},
    Part{"exposed expert communication", &StepTime::expert_communication},
    Part{"exposed pipeline communication", &StepTime::pipeline_communication},
    Part{"exposed data-parallel communication", &StepTime::data_communication},
    Part{"the pipeline bubble", &StepTime::pipeline_bubble},
    Part{"optimizer and gradient accumulation", &StepTime::optimizer},
    Part{"waiting for copies to host memory", &StepTime::offload},
    Part{"waiting for the rank with most work", &StepTime::imbalance},
    Part{"waiting for the slowest of many ranks", &StepTime::stragglers},
    Part{"fixed time a step", &StepTime::overhead},
};

/// The part of a step that keeps `larger` farthest from the step that perfect scaling from `smaller` would give.
struct StepLoss {
    Part part;
    Seconds ideal, lost; ///< of that part: its time under perfect scaling, and the excess over it
};

StepLoss worst_part(CurvePoint const& smaller, CurvePoint const& larger) {
    double const ideal = static_cast<double>(smaller.workers) / larger.workers *
                         (static_cast<double>(larger.global_batch) / smaller.global_batch);
    auto const left = [&](Part const& part) { return ideal * (smaller.prediction->time.*part.time); };
    auto const loss = [&](Part const& part) { return larger.prediction->time.*part.time - left(part); };
    Part const& worst = *std::ranges::max_element(parts, {}, loss);
    return {worst, left(worst), loss(worst)};
}

double samples_over_fewest(CurvePoint const& point) {
    auto const& statistics = point.prediction->statistics;
    return statistics ? statistics->samples_over_fewest() : 1.0;
}

double time_over_work(CurvePoint const& point) {
    auto const& goodput = point.prediction->goodput;
    return goodput ? goodput->time_over_work : 1.0;
}

std::string batch_loss(CurvePoint const& smaller, CurvePoint const& larger) {
    Statistics const& statistics = *larger.prediction->statistics;
    bool const past = statistics.batch > statistics.critical_batch;
    std::string text = past ? "the batch is past the critical one, where more throughput wastes samples"
                            : "a larger batch wastes samples";
    text += ": the " + counted(larger.global_batch, "sequence") + " at " + std::to_string(larger.workers) + " are " +
            times(statistics.batch / statistics.critical_batch) + " the critical batch";
    return text + " and need " + times(samples_over_fewest(larger) / samples_over_fewest(smaller)) +
           " the samples for " + times(larger.prediction->tokens_per_second / smaller.prediction->tokens_per_second) +
           " the throughput of " + std::to_string(smaller.workers);
}

std::string failure_loss(CurvePoint const& smaller, CurvePoint const& larger) {
    Goodput const &few = *smaller.prediction->goodput, &many = *larger.prediction->goodput;
    return "failures and checkpoints take " + percent(many.shares.lost()) + " of the time at " +
           std::to_string(larger.workers) + " (one failure every " + span_of(many.model.mtbf) + "), against " +
           percent(few.shares.lost()) + " at " + std::to_string(smaller.workers);
}

/// Largest cause by which `larger` falls short of perfect scaling from `smaller`: a part of the step, failures, or a
/// batch above the critical one.
std::string loss_between(CurvePoint const& smaller, CurvePoint const& larger) {
    StepLoss const step = worst_part(smaller, larger);
    double const of_step = step.lost / larger.prediction->step();
    double const of_batch = samples_over_fewest(larger) / samples_over_fewest(smaller) - 1.0;
    double const of_failures = time_over_work(larger) / time_over_work(smaller) - 1.0;
    if (of_batch > std::max({of_step, of_failures, 0.0})) { return batch_loss(smaller, larger); }
    if (of_failures > std::max(of_step, 0.0)) { return failure_loss(smaller, larger); }
    std::string text{step.part.name};
    text += " takes " + format(larger.prediction->time.*step.part.time, 3) + " of the " + format(step_of(larger), 3) +
            " step at " + std::to_string(larger.workers);
    return text + ", where perfect scaling from " + std::to_string(smaller.workers) + " would leave " +
           format(step.ideal, 3);
}

std::string bill_words(Plan const& plan) { return plan.question.cluster.price ? "the cost" : "the accelerator-hours"; }

std::string infeasible_words(CurvePoint const& point) { return std::to_string(point.workers) + ": " + point.why_not; }

/// Reason why no size meets the deadline and the budget, with the amount by which it misses them.
std::string missed_limits(Plan const& plan) {
    auto const feasible = feasible_points(plan);
    PlanQuestion const& question = plan.question;
    CurvePoint const& fastest =
        plan.curve[*std::ranges::min_element(feasible, {}, [&](std::size_t i) { return time_of(plan.curve[i]); })];
    std::string text = "No size of the list meets ";
    if (question.deadline) { text += "the deadline of " + span_of(*question.deadline); }
    if (question.deadline && question.budget) { text += " within "; }
    if (question.budget) { text += "the budget of " + money(*question.budget); }
    text += ": ";
    if (question.deadline) {
        double const over = *fastest.duration / *question.deadline;
        text += "the fastest, " + size_of(fastest.workers, question.cluster) + ", takes " + span_of(*fastest.duration);
        text += over >= 1.005 ? ", " + times(over) + " the time allowed" : "";
        if (question.budget) { text += " and costs " + money(*fastest.cost) + "; "; }
    }
    if (question.budget) {
        CurvePoint const& cheapest =
            plan.curve[*std::ranges::min_element(feasible, {}, [&](std::size_t i) { return *plan.curve[i].cost; })];
        double const over = *cheapest.cost / *question.budget;
        text += "the cheapest, " + size_of(cheapest.workers, question.cluster) + ", costs " + money(*cheapest.cost);
        text += over >= 1.005 ? ", " + times(over) + " the budget" : "";
        if (question.deadline) { text += ", and takes " + span_of(*cheapest.duration); }
    }
    return text + ".";
}

std::string no_answer(Plan const& plan) {
    if (plan.curve.empty()) { return "No size was searched."; }
    if (!feasible_points(plan).empty()) { return missed_limits(plan); }
    bool const fits = std::ranges::any_of(plan.curve, [](CurvePoint const& one) { return one.counts.feasible > 0; });
    if (fits) { return "No size of the list is feasible. At " + infeasible_words(plan.curve.back()) + "."; }
    return "Nothing fits on any size of the list. At " + infeasible_words(plan.curve.back()) + ".";
}

constexpr double likely = 0.9; ///< probability from which a limit counts as kept, that of an interval's inside

/// " (kept with a probability of 71.2 %)": what the interval of the step leaves of a limit
std::string kept_words(std::optional<double> const& probability) {
    return probability ? " (kept with a probability of " + percent(*probability) + ")" : "";
}

/// ", 27.1 days of the 30.0 days allowed": what it uses of a deadline and a budget
std::string limits_met(Plan const& plan, CurvePoint const& point) {
    std::string text;
    if (plan.question.deadline) {
        text += ", " + span_of(*point.duration) + " of the " + span_of(*plan.question.deadline) + " allowed" +
                kept_words(point.deadline_probability);
    }
    if (plan.question.budget) {
        text += ", " + money(*point.cost) + " of the " + money(*plan.question.budget) + " allowed" +
                kept_words(point.budget_probability);
    }
    return text;
}

/// " 2048 accelerators keep the deadline with a probability of 93.0 %: 11.2 days, $1.95M.": the cheapest size of a likely end by the deadline, where
/// the chosen one is less likely.
std::string likely_size(Plan const& plan, CurvePoint const& chosen) {
    PlanQuestion const& question = plan.question;
    if (!chosen.deadline_probability || *chosen.deadline_probability >= likely) { return {}; }
    CurvePoint const* found = nullptr;
    for (std::size_t const index : feasible_points(plan)) {
        CurvePoint const& point = plan.curve[index];
        bool const within = !question.budget || *point.cost <= *question.budget;
        bool const cheaper =
            found == nullptr || token_bill(point, question.cluster) < token_bill(*found, question.cluster);
        if (within && *point.deadline_probability >= likely && cheaper) { found = &point; }
    }
    if (found == nullptr) { return " No size of the list keeps the deadline with " + percent(likely) + "."; }
    return " " + counted(found->workers, "accelerator") + " keep it with " + percent(*found->deadline_probability) +
           ": " + span_of(*found->duration) + (found->cost ? ", " + money(*found->cost) : "") + ".";
}

/// Whether the objective knee, and nothing that goes before it, chose the size.
bool knee_decides(PlanQuestion const& question) {
    return question.objective == Objective::knee && !question.deadline && !question.budget && !question.value_of_time;
}

/// " Within it the soonest: 1024 accelerators, 4.92 days, $232k (--objective time).": where a budget alone takes the cheapest size and another
/// within it ends sooner by more than `stop_gain`.
std::string soonest_within_budget(Plan const& plan, CurvePoint const& chosen) {
    PlanQuestion const& question = plan.question;
    if (!question.budget || question.deadline || question.objective != Objective::knee) { return {}; }
    CurvePoint const* soonest = &chosen;
    for (std::size_t const index : feasible_points(plan)) {
        CurvePoint const& point = plan.curve[index];
        if (*point.cost <= *question.budget && *point.duration < *soonest->duration) { soonest = &point; }
    }
    if (*soonest->duration > *chosen.duration * (1.0 - stop_gain)) { return {}; }
    return " Within it the soonest: " + counted(soonest->workers, "accelerator") + ", " + span_of(*soonest->duration) +
           ", " + money(*soonest->cost) + " (--objective time).";
}

/// "1.31x with 5.00 min to start the job; ": where that start keeps a larger size from the rule.
std::string with_start(Plan const& plan, CurvePoint const& next) {
    bool const decides = next.marginal_speedup_of_run && *next.marginal_speedup_of_run < laws::knee_gain &&
                         *next.marginal_speedup_per_doubling >= laws::knee_gain;
    if (!decides) { return {}; }
    return times(*next.marginal_speedup_of_run) + " with " + span_of(start_of(plan.question)) + " to start the job; ";
}

std::string second_sentence(Plan const& plan, CurvePoint const& chosen) {
    std::string const rule = "the rule asks for " + format_count(laws::knee_gain) + "x";
    bool const by_knee = knee_decides(plan.question);
    CurvePoint const* next = feasible_after(plan, chosen.workers);
    if (!next) {
        if (CurvePoint const* refused = infeasible_after(plan, chosen.workers)) {
            return "No larger size of the list is feasible; at " + infeasible_words(*refused) + ".";
        }
        if (!chosen.marginal_speedup_per_doubling) { return "It is the only feasible size of the list."; }
        return std::to_string(chosen.workers) + " is the largest size " +
               (plan.question.usual_sizes ? "that was tried" : "you asked about") + ", and doubling still pays (" +
               times(*chosen.marginal_speedup_per_doubling) + (by_knee ? "; " + rule : "") + "). Try larger sizes.";
    }
    std::string text = step_up(plan, chosen, *next);
    if (by_knee) { text += " (" + with_start(plan, *next) + rule + " a doubling)"; }
    CurvePoint const* stop = point_at(plan, plan.stop.workers);
    CurvePoint const* after = stop ? feasible_after(plan, stop->workers) : nullptr;
    if (after) {
        text +=
            "; past " + std::to_string(stop->workers) + " nothing is gained, because " + loss_between(*stop, *after);
    }
    return text + ".";
}

constexpr std::size_t most_parts = 4;    ///< of a step that a sentence names
constexpr double smallest_share = 0.005; ///< of the step that is worth a word

/// "84.1 % computation, 6.20 % exposed data-parallel communication and 4.01 % the pipeline bubble"
std::string largest_parts(Prediction const& prediction) {
    auto sorted = parts;
    std::ranges::stable_sort(sorted, std::greater{}, [&](Part const& part) { return prediction.time.*part.time; });
    std::vector<std::string> words;
    for (Part const& part : sorted) {
        double const share = prediction.time.*part.time / prediction.step();
        if (words.size() < most_parts && share >= smallest_share) {
            words.push_back(percent(share) + " " + std::string{part.name});
        }
    }
    return listed(words);
}

std::string memory_words(Prediction const& prediction) {
    MemoryUse const& use = prediction.memory;
    std::string const host = host_words(prediction);
    return "Each accelerator holds " + format_binary(use.total()) + " of " + format_binary(prediction.memory_usable) +
           " usable: weights " + format_binary(use.weights) + ", gradients " + format_binary(use.gradients) +
           ", optimizer state " + format_binary(use.optimizer) + ", activations " + format_binary(use.activations) +
           ", logits " + format_binary(use.logits) + ", temporaries " + format_binary(use.temporaries) + ", buffers " +
           format_binary(use.buffers) + "." + (host.empty() ? "" : " Offloaded state takes " + host + ".") +
           (prediction.odds ? " Fits: " + odds_words(*prediction.odds, prediction.memory_capacity) + "." : "");
}

/// The faster strategy that fits with too small a probability, and the risk that takes it.
std::string given_up_words(RiskyStrategy const& given_up, Seconds chosen, double probability) {
    return "Given up: " + short_name(given_up.strategy) + " would take " + format(given_up.step, 3) + " (" +
           percent(1.0 - given_up.step / chosen) + " less) and fits with a probability of " + percent(given_up.fits) +
           ", below " + percent(probability) + "; " + risk_that_takes(given_up) + " takes it.";
}

std::string batch_words(Prediction const& prediction) {
    int const batch = prediction.question.workload.global_batch;
    int const dp = prediction.question.strategy.dp;
    std::string const unit = prediction.question.model.works_on_samples() ? "sample" : "sequence";
    return "The global batch of " + counted(batch, unit) + " gives at most " + counted(batch, "data-parallel replica") +
           "; this plan has " + std::to_string(dp) + (dp == 1 ? ", with " : ", each with ") +
           counted(batch / dp, unit) + " in " + counted(prediction.micro_batches, "micro-batch") + ".";
}

std::string goodput_words(Goodput const& goodput) {
    return "A failure comes every " + span_of(goodput.model.mtbf) + "; with " + format(goodput.model.checkpoint) +
           " for a checkpoint after every " + span_of(goodput.interval) + " of work and " +
           format(goodput.model.restart) + " to restart, " + percent(goodput.shares.work) + " of the time is work.";
}

std::string statistics_words(Statistics const& statistics) {
    return "The batch is " + times(statistics.batch / statistics.critical_batch) + " the critical batch of " +
           amount(statistics.critical_batch) + " sequences: it needs " + times(statistics.samples_over_fewest()) +
           " the samples that a small batch would.";
}

/// Over the smallest feasible size. An efficiency above one is a finding, so it is explained and not cut off.
std::string efficiency_words(CurvePoint const& smallest, CurvePoint const& chosen) {
    std::string text = "It is " + times(chosen.speedup) + " faster than " + std::to_string(smallest.workers) +
                       ", the smallest feasible size: an efficiency of " + percent(chosen.efficiency) +
                       "; its last doubling gave " + times(*chosen.marginal_speedup_per_doubling) + ".";
    if (chosen.efficiency > 1.0 && chosen.global_batch == smallest.global_batch) {
        text += " More than 100 % because " + std::to_string(smallest.workers) + " is short of memory and runs " +
                short_name(smallest.prediction->question.strategy) + ".";
    }
    return text;
}

/// "exposed tensor-parallel communication takes 420 ms instead of 210 ms": the part that costs a step most.
std::string dearest_part(NextBest const& next) {
    auto const more = [&](Part const& part) { return next.time.*part.time - next.chosen.*part.time; };
    Part const& worst = *std::ranges::max_element(parts, {}, more);
    return std::string{worst.name} + " takes " + format(next.time.*worst.time, 3) + " of its step instead of " +
           format(next.chosen.*worst.time, 3);
}

std::string next_best_words(NextBest const& next) {
    return "Next best with other degrees: " + short_name(next.strategy) + ", " + next.why + ".";
}

} // namespace

std::string lost_because(NextBest const& next, Strategy const& chosen, int domain) {
    constexpr double least = 0.0005; // of a step that a number in three digits shows
    double const more = next.time.total() / next.chosen.total() - 1.0;
    std::string const text = std::abs(more) < least ? "as fast"
                             : more > 0.0           ? percent(more) + " slower"
                                                    : percent(-more) + " faster";
    if (more > step_tie) { return text + ": " + dearest_part(next); }
    std::string const simpler = less_simple_because(next.strategy, chosen, domain);
    if (!simpler.empty() && more < least) { return text + ", but less simple (" + simpler + ")"; }
    return more < least ? text : text + ": " + dearest_part(next);
}

std::string step_up(Plan const& plan, CurvePoint const& from, CurvePoint const& to) {
    double const gain = time_of(from) / time_of(to);
    std::string text = std::to_string(to.workers);
    text += gain > 1.0 ? " is " + times(gain) + " faster" : " is no faster (" + times(gain) + ")";
    double const bill = bill_ratio(plan, to, from);
    if (bill > 0.995 && bill < 1.005) { return text + " at the same" + bill_words(plan).substr(3); }
    return text + " for " + times(bill) + " " + bill_words(plan);
}

std::string verdict_of(Plan const& plan) {
    std::string text;
    if (!plan.complete) {
        text = plan.curve.empty()
                   ? "Stopped before the first size. "
                   : "Stopped: sizes above " + std::to_string(plan.curve.back().workers) + " were not searched. ";
    }
    if (!plan.recommended) { return text + no_answer(plan); }
    CurvePoint const& chosen = plan.curve[*plan.recommended];
    text += headline(plan) + " Use " + size_of(chosen.workers, plan.question.cluster) + ": " +
            short_name(chosen.prediction->question.strategy) + limits_met(plan, chosen) + "." +
            likely_size(plan, chosen) + soonest_within_budget(plan, chosen) + " ";
    return text + second_sentence(plan, chosen);
}

std::string stop_reason_of(Plan const& plan) {
    CurvePoint const* stop = point_at(plan, plan.stop.workers);
    if (!stop) { return "no size of the list is feasible"; }
    std::string const threshold = format_count(100.0 * stop_gain) + " %";
    PlanQuestion const& question = plan.question;
    bool const step_alone = !question.failures && !question.critical_batch && !question.batch_per_worker;
    std::string const what = step_alone ? "the step" : "the time to the target";
    CurvePoint const* next = feasible_after(plan, stop->workers);
    if (next) {
        return "no larger size of the list improves " + what + " by more than " + threshold + ": " +
               loss_between(*stop, *next);
    }
    if (CurvePoint const* refused = infeasible_after(plan, stop->workers)) {
        return "no larger size of the list is feasible; at " + infeasible_words(*refused);
    }
    return "no stopping point up to here: every larger size still shortens " + what + " by more than " + threshold;
}

/// Saving and cost of the next larger size, compared with the value of an hour. Empty when the duration of the run is
/// unknown or nothing larger fits.
std::string value_words(Plan const& plan, CurvePoint const& chosen) {
    std::string words = "An hour sooner is worth " + money(*plan.question.value_of_time * units::hour);
    CurvePoint const* next = feasible_after(plan, chosen.workers);
    if (next == nullptr || !next->duration || !next->cost || !chosen.duration || !chosen.cost) { return words + "."; }
    Seconds const saved = *chosen.duration - *next->duration;
    Dollars const extra = *next->cost - *chosen.cost;
    words += "; " + std::to_string(next->workers) + " would save " + span_of(saved);
    if (saved.base() <= 0.0) { return words + "."; }
    return words + " for " + money(extra) + " more, " + money(extra / saved * units::hour) + " for each hour.";
}

std::vector<std::string> reasons_of(Plan const& plan) {
    if (!plan.recommended) { return {}; }
    std::vector<std::string> reasons;
    CurvePoint const& chosen = plan.curve[*plan.recommended];
    Prediction const& prediction = *chosen.prediction;
    auto const feasible = feasible_points(plan);
    reasons.push_back("A step takes " + format(prediction.step(), 3) + ": " + largest_parts(prediction) + ".");
    if (chosen.next_best) { reasons.push_back(next_best_words(*chosen.next_best)); }
    if (feasible.front() != *plan.recommended) {
        reasons.push_back(efficiency_words(plan.curve[feasible.front()], chosen));
    }
    if (CurvePoint const* next = feasible_after(plan, chosen.workers)) {
        reasons.push_back("At " + std::to_string(next->workers) + " efficiency is " + percent(next->efficiency) +
                          " (a doubling gives " + times(*next->marginal_speedup_per_doubling) +
                          "): " + loss_between(chosen, *next) + ".");
    }
    if (plan.question.value_of_time) { reasons.push_back(value_words(plan, chosen)); }
    reasons.push_back(batch_words(prediction));
    reasons.push_back(memory_words(prediction));
    if (chosen.given_up) {
        reasons.push_back(given_up_words(*chosen.given_up, prediction.step(), plan.question.space.margin.probability));
    }
    if (prediction.goodput) { reasons.push_back(goodput_words(*prediction.goodput)); }
    if (prediction.statistics) { reasons.push_back(statistics_words(*prediction.statistics)); }
    for (CurvePoint const& point : plan.curve) {
        if (!point.feasible) { reasons.push_back("Not feasible at " + infeasible_words(point) + "."); }
    }
    if (!plan.question.cluster.price) {
        reasons.emplace_back(
            "No price is known for this accelerator: costs are left empty and compared in accelerator-hours.");
    }
    return reasons;
}

} // namespace headroom::training::planner
