#include "predict/schedules.hpp"

#include "document/text.hpp"
#include "predict/prediction_report.hpp"

#include "headroom/legality.hpp"

#include <algorithm>

namespace headroom::cli {
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

/// Which chunks the row of interleaved 1F1B has; empty where there is no such row.
std::string chunks_words(std::vector<ScheduleOutcome> const& outcomes) {
    auto const row = std::ranges::find(outcomes, PipelineSchedule::interleaved, &ScheduleOutcome::schedule);
    if (row == outcomes.end() || !row->prediction) { return {}; }
    return row->chosen ? " v: chunks of a stage, those of this strategy."
                       : " v: chunks of a stage, the fewest that its layers allow (--virtual-pp sets them).";
}

/// Fastest that fits, fastest that does not, impossible; ties by the order of the table.
bool is_better(ScheduleOutcome const& left, ScheduleOutcome const& right) {
    auto const rank = [](ScheduleOutcome const& one) { return one.fits() ? 0 : one.prediction ? 1 : 2; };
    if (rank(left) != rank(right)) { return rank(left) < rank(right); }
    return left.prediction && left.prediction->step() < right.prediction->step();
}

double bubble_share(Prediction const& prediction) { return prediction.time.pipeline_bubble / prediction.step(); }

std::string verdict_words(std::vector<ScheduleOutcome> const& outcomes) {
    ScheduleOutcome const& best = outcomes.front();
    auto const own = std::ranges::find_if(outcomes, &ScheduleOutcome::chosen);
    std::string const title{schedule_row(best.schedule).title};
    if (!best.fits()) { return "None of the schedules that are possible fits in memory."; }
    if (own == outcomes.begin() && !schedule_row(own->schedule).asynchronous) {
        return title + ", the schedule of this strategy, is the fastest that fits.";
    }
    std::string text = title + " is the fastest that fits";
    if (own != outcomes.begin() && own != outcomes.end() && own->prediction) {
        double const faster = own->prediction->step() / best.prediction->step();
        text += ": " + significant(faster, 4) + "x the speed of " + std::string{schedule_row(own->schedule).title} +
                ", the schedule of this strategy";
    }
    text += ".";
    auto const flushed = std::ranges::find_if(
        outcomes, [](ScheduleOutcome const& one) { return one.fits() && !schedule_row(one.schedule).asynchronous; });
    if (flushed != outcomes.begin() && flushed != outcomes.end()) {
        text += " It never drains, so its gradients belong to older weights; the fastest whose update is that of one "
                "accelerator is " +
                std::string{schedule_row(flushed->schedule).title} + ".";
    }
    return text;
}

std::vector<std::string> row_of(ScheduleOutcome const& outcome, TimeScale const& scale) {
    ScheduleRow const& row = schedule_row(outcome.schedule);
    std::string name = std::string{row.name};
    if (outcome.prediction && outcome.schedule == PipelineSchedule::interleaved) {
        name += " v=" + std::to_string(outcome.prediction->question.strategy.virtual_pp);
    }
    if (outcome.chosen) { name += " (this)"; }
    if (!outcome.prediction) { return {name, "-", "-", "-", "-", "-", "-", "-"}; }
    Prediction const& p = *outcome.prediction;
    return {name,
            significant(p.step().in(scale.unit)),
            significant(p.time.pipeline_bubble.in(scale.unit)),
            percent(bubble_share(p)),
            significant(p.memory.total().in(units::GiB)),
            p.fits ? "yes" : "no",
            significant(outcome.held),
            significant(outcome.weight_copies, 2)};
}

} // namespace

std::vector<ScheduleOutcome> compare_schedules(Question const& question, CalibrationSet const& calibration) {
    std::vector<ScheduleOutcome> outcomes;
    for (ScheduleRow const& row : pipeline_schedules()) {
        outcomes.push_back(outcome_of(row.id, question, calibration));
    }
    std::ranges::stable_sort(outcomes, is_better);
    return outcomes;
}

std::vector<Block> schedule_comparison(std::vector<ScheduleOutcome> const& outcomes) {
    auto const own = std::ranges::find_if(outcomes, &ScheduleOutcome::chosen);
    auto const& any = own != outcomes.end() && own->prediction ? *own : outcomes.front();
    TimeScale const scale = scale_of(any.prediction ? any.prediction->step() : Seconds{1.0});
    Table table{.title = "Schedules of the pipeline, best first",
                .columns = {{"schedule", Align::left},
                            {"step " + scale.name},
                            {"bubble " + scale.name},
                            {"% of step"},
                            {"GiB"},
                            {"fits", Align::left},
                            {"in flight"},
                            {"copies"}},
                .rows = {},
                .marked = outcomes.front().fits() ? std::optional<std::size_t>{0} : std::nullopt};
    Items impossible{"Not possible here", {}};
    for (ScheduleOutcome const& outcome : outcomes) {
        if (outcome.prediction) {
            table.rows.push_back(row_of(outcome, scale));
        } else {
            impossible.items.push_back(std::string{schedule_row(outcome.schedule).title} + ": " + outcome.why_not);
        }
    }
    std::vector<Block> blocks;
    if (!table.rows.empty()) {
        blocks.emplace_back(std::move(table));
        blocks.emplace_back(Paragraph{verdict_words(outcomes) +
                                      " GiB: memory of the fullest stage; in flight: micro-batches whose activations "
                                      "it holds at once; copies: of its weights." +
                                      chunks_words(outcomes)});
    }
    if (!impossible.items.empty()) { blocks.emplace_back(std::move(impossible)); }
    return blocks;
}

Json schedules_json(std::vector<ScheduleOutcome> const& outcomes) {
    Json list = Json::array();
    bool first = true;
    for (ScheduleOutcome const& outcome : outcomes) {
        ScheduleRow const& row = schedule_row(outcome.schedule);
        auto const& p = outcome.prediction;
        auto const number = [&p](auto value) { return p ? Json{value(*p)} : Json{}; };
        list.push(Json::object()
                      .set("schedule", row.name)
                      .set("title", row.title)
                      .set("source", row.source)
                      .set("possible", p.has_value())
                      .set("why_not", p && p->fits ? Json{}
                                      : p          ? Json{p->why_not}
                                                   : Json{outcome.why_not})
                      .set("step_seconds", number([](auto const& one) { return one.step().base(); }))
                      .set("bubble_seconds", number([](auto const& one) { return one.time.pipeline_bubble.base(); }))
                      .set("bubble_fraction", number(bubble_share))
                      .set("memory_bytes", number([](auto const& one) { return one.memory.total().base(); }))
                      .set("fits", outcome.fits())
                      .set("micro_batches_in_flight", p ? Json{outcome.held} : Json{})
                      .set("weight_copies", p ? Json{outcome.weight_copies} : Json{})
                      .set("virtual_pp", number([](auto const& one) { return one.question.strategy.virtual_pp; }))
                      .set("asynchronous", row.asynchronous)
                      .set("best", first && outcome.fits())
                      .set("of_strategy", outcome.chosen));
        first = false;
    }
    return list;
}

} // namespace headroom::cli
