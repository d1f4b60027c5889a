#include "headroom/training/legality.hpp"
#include "headroom/training/training_answers.hpp"

#include <algorithm>
#include <iterator>

namespace headroom::training {
namespace {

ScheduleOutcome outcome_of(PipelineSchedule schedule, Question question, CalibrationSet const& calibration) {
    ScheduleOutcome outcome{.schedule = schedule, .chosen = schedule == question.strategy.schedule()};
    Strategy& strategy = question.strategy;
    set_schedule(strategy, schedule, question.model);
    outcome.why_not = illegal_because(strategy, question.model, question.workload);
    PipelineShape const shape = pipeline_shape(strategy, question.workload);
    if (outcome.why_not.empty()) { outcome.why_not = impossible_because(schedule, shape); }
    if (!outcome.why_not.empty()) { return outcome; }
    ScheduleRow const& row = schedule_row(schedule);
    for (int stage = 0; row.held != nullptr && stage < shape.stages; ++stage) {
        outcome.held = std::max(outcome.held, row.held(shape, stage));
    }
    outcome.weight_copies = row.asynchronous ? std::min(shape.stages, shape.micro_batches) : row.weight_copies;
    outcome.prediction = predict(question, calibration);
    return outcome;
}

/// Fastest that fits, fastest that does not, impossible; ties by the order of the table.
bool is_better(ScheduleOutcome const& left, ScheduleOutcome const& right) {
    auto const rank = [](ScheduleOutcome const& one) { return one.fits() ? 0 : one.prediction ? 1 : 2; };
    if (rank(left) != rank(right)) { return rank(left) < rank(right); }
    return left.prediction && left.prediction->step() < right.prediction->step();
}

} // namespace

FlopsPerSecond model_rate(Prediction const& prediction) {
    return prediction.model_flops / (prediction.step() * static_cast<double>(prediction.workers));
}

double samples_per_second(Prediction const& prediction) {
    return prediction.question.workload.global_batch / prediction.step().base();
}

double tokens_per_second_per_accelerator(Prediction const& prediction) {
    return prediction.tokens_per_second / static_cast<double>(prediction.workers);
}

std::optional<double> dollars_per_million(Prediction const& prediction) {
    if (!prediction.question.cluster.price || !prediction.progresses()) { return std::nullopt; }
    double const lost = prediction.goodput ? prediction.goodput->time_over_work : 1.0;
    return prediction.question.cluster.price->base() * static_cast<double>(prediction.workers) /
           prediction.tokens_per_second * 1e6 * lost;
}

std::optional<double> ceiling_of(Prediction const& prediction) {
    return prediction.serial.value > 0.0 ? std::optional{prediction.speedup_ceiling} : std::nullopt;
}

std::vector<MemoryUse> stages_of(Prediction const& prediction) {
    static constexpr Calibration unused{}; // memory asks no constants
    return memory_by_stage(step_setting(prediction.question, prediction.question.cluster, unused),
                           prediction.question.strategy);
}

std::optional<Dollars> cost_of(Prediction const& prediction) {
    auto const duration = run_time(prediction);
    if (!duration || !prediction.question.cluster.price) { return std::nullopt; }
    return *prediction.question.cluster.price * *duration * static_cast<double>(prediction.workers);
}

std::optional<Seconds> time_to_target(Prediction const& prediction) {
    return prediction.statistics ? run_time(prediction) : std::nullopt;
}

std::vector<ConstantValue> constant_values(CalibrationSet const& calibration) {
    std::vector<ConstantValue> values;
    for (ConstantInfo const& info : constants()) {
        values.push_back({&info, calibration.constant[static_cast<std::size_t>(info.id)]});
    }
    return values;
}

std::vector<ScheduleOutcome> compare_schedules(Question const& question, CalibrationSet const& calibration) {
    std::vector<ScheduleOutcome> outcomes;
    for (ScheduleRow const& row : pipeline_schedules()) {
        outcomes.push_back(outcome_of(row.id, question, calibration));
    }
    std::ranges::stable_sort(outcomes, is_better);
    outcomes.front().best = outcomes.front().fits();
    return outcomes;
}

Simulation simulate(Prediction const& prediction, CalibrationSet const& calibration, SimulationOptions const& options) {
    StepContext const context{prediction, calibration};
    return {.step = simulate_step(context.setting(), prediction.question.strategy, prediction.costs, options),
            .collectives = options.collectives,
            .priced = prediction.time};
}

std::vector<Term> explain(Prediction const& prediction, CalibrationSet const& calibration) {
    StepContext const context{prediction, calibration};
    Strategy const& strategy = prediction.question.strategy;
    TermBook book;
    explain_left_out(book, prediction);
    explain_memory(book, context.setting(), strategy, prediction.memory);
    explain_step(book, context.setting(), strategy, prediction.costs, prediction.warm ? prediction.warm->factor : 1.0);
    return book.terms();
}

std::vector<Term> overview(std::vector<Term> const& terms) {
    constexpr int parts_of_step = 2, parts_of_memory = 1;
    std::vector<Term> shown = opened(terms, {"step_seconds"}, parts_of_step);
    std::ranges::move(opened(terms, {"footprint_bytes", "total_bytes"}, parts_of_memory), std::back_inserter(shown));
    std::ranges::move(
        opened(terms,
               {"congestion_slowdown", "cluster_mtbf_seconds", "checkpoint_seconds", "young_interval_seconds",
                "time_over_work", "goodput", "sample_efficiency", "tokens_needed", "steps_needed"},
               0),
        std::back_inserter(shown));
    return shown;
}

CurvePoint const* recommended_point(Plan const& plan) {
    return plan.recommended ? &plan.curve[*plan.recommended] : nullptr;
}

} // namespace headroom::training
