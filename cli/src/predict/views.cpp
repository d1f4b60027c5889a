#include "predict/prediction_report.hpp"
#include "watch.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/training/simulation_agreement.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

WorkKind kind_at(std::size_t index) { return static_cast<WorkKind>(index); }

/// Name of a kind of work in text: "tensor communication".
std::string work_kind_word(WorkKind kind) {
    return std::string{name_of(kind)} + (communicates(kind) ? " communication" : "");
}

/// Collectives that have one time instead of messages.
std::string stood_in_words(SimulatedStep const& step) {
    return "Not all collectives are simulated by messages; one time each for " + join(step.stood_in, "; ") + ".";
}

std::string times_words(Seconds time) {
    TimeScale const scale = scale_of(time);
    return significant(time.in(scale.unit), 4) + " " + scale.name;
}

std::string agreement_words(Simulation const& simulation) {
    double const difference = std::abs(simulation.difference());
    std::string const text = "Priced " + times_words(simulation.priced.total()) + ", simulated " +
                             times_words(simulation.step.step()) + ": " + percent(difference, 2) + " % apart";
    if (difference <= agreement_bar) { return text + "."; }
    if (simulation.collectives == CollectiveDetail::messages) {
        return text + ". The price spreads each group evenly over its nodes; messages take the NICs as they are.";
    }
    return text + ". The price lets two transfers at a time share a NIC; here three do.";
}

/// Parts of the step as priced and as simulated, those that either has.
Table comparison_table(Simulation const& simulation) {
    TimeScale const scale = scale_of(simulation.priced.total());
    Table table{
        .title = "The step priced and simulated",
        .columns = {left("part"), "priced " + scale.name, "simulated " + scale.name, "difference " + scale.name}};
    double const least = 1e-6 * simulation.priced.total().base(); // less is the rounding to whole ticks
    auto const row = [&](std::string const& name, Seconds priced, Seconds simulated) {
        Seconds const more = simulated - priced;
        table.rows.push_back({name, significant(priced.in(scale.unit)), significant(simulated.in(scale.unit)),
                              std::abs(more.base()) > least ? significant(more.in(scale.unit)) : "0"});
    };
    auto const priced = named_parts(simulation.priced), simulated = named_parts(simulation.step.time);
    for (std::size_t i = 0; i < priced.size(); ++i) {
        bool const any = std::max(priced[i].second.base(), simulated[i].second.base()) > least;
        if (any) { row(priced[i].first, priced[i].second, simulated[i].second); }
    }
    row("step", simulation.priced.total(), simulation.step.step());
    return table;
}

/// Bars of the critical path by kind of task.
StackedBars critical_bars(SimulatedStep const& step) {
    StackedBars bars{
        .title = "The critical path by kind", .unit = "%", .parts = {}, .labels = {"critical path"}, .values = {{}}};
    bars.caption =
        "The chain of tasks that determines the step time, by kind of work: only a faster task on it shortens the "
        "step.";
    Seconds all;
    for (Seconds const time : step.critical) { all += time; }
    auto const add = [&](std::string const& name, Seconds time) {
        if (!(all.base() > 0.0) || time / all < 1e-6) { return; }
        bars.parts.push_back(name);
        bars.values[0].push_back(100.0 * (time / all));
    };
    for (std::size_t kind = 0; kind < step.critical.size(); ++kind) {
        add(work_kind_word(kind_at(kind)), step.critical[kind]);
    }
    return bars;
}

} // namespace

std::vector<Block> simulation_blocks(Simulation const& simulation) {
    if (!simulation.ran()) { return {Paragraph{"not simulated: " + simulation.step.refused + ".", "simulation"}}; }
    std::vector<Block> blocks{Paragraph{agreement_words(simulation), "simulation"}};
    if (!simulation.step.stood_in.empty()) {
        blocks.emplace_back(Paragraph{stood_in_words(simulation.step), "stood in"});
    }
    blocks.emplace_back(comparison_table(simulation));
    if (StackedBars bars = critical_bars(simulation.step); !bars.parts.empty()) {
        blocks.emplace_back(std::move(bars));
    }
    return blocks;
}

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

std::vector<std::string> schedule_cells(ScheduleOutcome const& outcome, TimeScale const& scale) {
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
            table.rows.push_back(schedule_cells(outcome, scale));
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

namespace {

constexpr std::int64_t most_events = 1'000'000;              ///< of a timeline: what viewers open
constexpr std::int64_t most_unasked = std::int64_t{1} << 20; ///< tasks of a step that nobody asked to simulate

void refuse_without_pipeline(PredictionReport const& report, Views const& views) {
    if (report.answer.prediction.question.strategy.pp > 1) { return; }
    char const* const hint = "add --pp 2 or more";
    if (views.compares) { refuse("--schedule", "there is nothing to compare", "the pipeline has one stage", hint); }
    if (views.gantt) { refuse("--gantt", "there is no schedule to draw", "the pipeline has one stage", hint); }
}

CollectiveDetail collective_detail(std::string const& word) {
    std::string const name = normalised(word);
    if (name.empty() || name == "operation") { return CollectiveDetail::operation; }
    if (name == "messages") { return CollectiveDetail::messages; }
    refuse("--simulate", "unknown way to price collectives " + headroom::quoted(word), "",
           "choose from operation, messages; a model goes before --simulate");
}

/// A timeline that would be too long is made of coarser tasks before it is refused.
Simulation simulate_as_wanted(PredictionReport const& report, Views const& views, std::stop_token const& stop) {
    SimulationOptions options;
    options.stop = stop;
    options.collectives = views.collectives;
    options.places = views.timeline.has_value();
    if (views.timeline) {
        options.most_tasks = most_events;
    } else if (!views.simulates) {
        options.most_tasks = most_unasked;
    }
    auto const run = [&] { return simulate(report.answer.prediction, report.setting.calibration, options); };
    Simulation simulation = run();
    if (!simulation.ran() && views.timeline) {
        options.detail = StepDetail::block;
        simulation = run();
    }
    return simulation;
}

void draw(PredictionReport& report, std::stop_token const& stop) {
    CalibrationSet const& calibration = report.setting.calibration;
    report.passes = passes_of(report.answer.prediction, calibration, stop);
    if (!report.passes->drawn()) { return; }
    StepContext const context{report.answer.prediction, calibration};
    report.memory = memory_over_time(context.setting(), report.answer.prediction.question.strategy,
                                     report.passes->order, report.passes->times, report.passes->run);
}

} // namespace

Views read_views(Arguments& arguments, Output const& output) {
    Views views;
    std::vector<std::string> names{"all"};
    for (ScheduleRow const& row : pipeline_schedules()) { names.emplace_back(row.name); }
    auto const schedule = arguments.choice("--schedule", names);
    views.compares = schedule == "all";
    if (views.compares) { arguments = arguments.without("--schedule"); }
    views.timeline = timeline_file(arguments, output);
    views.memory_timeline = timeline_file(arguments, output, "--memory-timeline");
    if (views.timeline && views.timeline == views.memory_timeline) {
        refuse("--memory-timeline", headroom::quoted(*views.timeline) + " is where the timeline goes too",
               "they would run into each other", "give one of them another file");
    }
    views.page = !output.html.empty();
    views.simulates = arguments.has("--simulate") || views.timeline.has_value();
    views.collectives = collective_detail(arguments.text("--simulate").value_or(""));
    views.gantt = arguments.has("--gantt");
    views.draws = views.gantt || views.simulates || (schedule && !views.compares);
    return views;
}

bool fill_views(PredictionReport& report, Views const& views, Output const& output) {
    bool const pipeline = report.answer.prediction.question.strategy.pp > 1;
    refuse_without_pipeline(report, views);
    CalibrationSet const& calibration = report.setting.calibration;
    if (views.compares) { report.answer.schedules = compare_schedules(report.answer.prediction.question, calibration); }
    report.draws_in_text = views.draws;
    report.answer.shows_simulation = views.simulates;
    bool const simulates = views.simulates || (views.page && pipeline);
    bool const draws = pipeline && (views.draws || views.page);
    if (!simulates && !draws) { return true; }
    Watch const watch{"simulating the step", output.quiet};
    if (draws) { draw(report, watch.token()); }
    if (simulates) { report.answer.simulation = simulate_as_wanted(report, views, watch.token()); }
    if (watch.interrupted()) {
        report.passes.reset();
        report.answer.simulation.reset();
        return false;
    }
    if (views.timeline && !report.answer.simulation->ran()) {
        refuse("--timeline", "there is no timeline of this step", report.answer.simulation->step.refused,
               "ask for fewer micro-batches or layers: --global-batch, --layers");
    }
    return true;
}

} // namespace headroom::cli
