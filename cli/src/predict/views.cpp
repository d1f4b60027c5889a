#include "predict/views.hpp"

#include "watch.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"

namespace headroom::cli {

using namespace headroom::training;

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
