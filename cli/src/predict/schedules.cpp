#include "predict/schedules.hpp"

#include "predict/prediction_report.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>

namespace headroom::cli {

using namespace headroom::training;

namespace {

/// Note on the chunks of interleaved 1F1B; empty where there is no such row.
std::string chunks_words(std::vector<ScheduleOutcome> const& outcomes) {
    auto const row = std::ranges::find(outcomes, PipelineSchedule::interleaved, &ScheduleOutcome::schedule);
    if (row == outcomes.end() || !row->prediction) { return {}; }
    return row->chosen ? " v: chunks of a stage, those of this strategy."
                       : " v: chunks of a stage, the fewest that its layers allow (--virtual-pp sets them).";
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

std::vector<Block> schedule_comparison(std::vector<ScheduleOutcome> const& outcomes) {
    auto const own = std::ranges::find_if(outcomes, &ScheduleOutcome::chosen);
    auto const& any = own != outcomes.end() && own->prediction ? *own : outcomes.front();
    TimeScale const scale = scale_of(any.prediction ? any.prediction->step() : Seconds{1.0});
    Table table{.title = "Schedules of the pipeline, best first",
                .columns = {left("schedule"), "step " + scale.name, "bubble " + scale.name, "% of step", "GiB",
                            left("fits"), "in flight", "copies"},
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

} // namespace headroom::cli
