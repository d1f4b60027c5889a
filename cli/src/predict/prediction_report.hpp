#pragma once

#include "arguments.hpp"
#include "gate.hpp"
#include "output.hpp"
#include "setting.hpp"

#include "headroom/document/document.hpp"
#include "headroom/training/combinations.hpp"
#include "headroom/training/memory.hpp"
#include "headroom/training/pass_picture.hpp"
#include "headroom/training/prediction.hpp"
#include "headroom/training/simulated_step.hpp"
#include "headroom/training/training_answers.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// Answer of `predict` with what its document draws.
struct PredictionReport {
    Setting setting;
    training::PredictAnswer answer;
    std::optional<CallStats> stats;
    std::optional<training::PassPicture> passes = {};    ///< where they are drawn, in the text or on the page
    std::vector<training::StageMemoryCurve> memory = {}; ///< of every stage over the passes
    bool draws_in_text = false;
};

/// Where a document is read: a page has every figure.
enum class Medium { text, page };

/// The unit that a step reads best in.
struct TimeScale {
    Seconds unit;
    std::string name;
};
TimeScale scale_of(Seconds step);
/// Unit of the times of whole runs, the longest of which is given: days from half a day on, below it hours or minutes.
TimeScale scale_of_run(Seconds longest);

/// "48.5 s" and "29.1 to 82.3 s", in one unit, chosen by the step.
std::string step_words(training::Prediction const& prediction);
std::string interval_words(training::Prediction const& prediction);

/// "; computation x0.61: the factor fitted to runs of these kernels"; empty where there is none.
std::string pace_words(double pace);

/// Numbers that --require may ask about; without values where `answer` is null.
std::vector<Metric> metrics_of(training::PredictAnswer const* answer);

/// The parts of the memory, by name: what tables and bars show; those of a step are `training::named_parts`.
std::vector<std::pair<std::string, Bytes>> parts_of(training::MemoryUse const& memory);

Document document_of(PredictionReport const& report, Medium medium = Medium::text);
/// One screen: the answer, its parts in a sentence each, and what was asked for by an option; longer where that is a drawing or an explanation.
Document screen_document(PredictionReport const& report, ScreenSize screen);
/// First sentence of the answer: --brief.
std::string verdict_of(PredictionReport const& report);

/// One bar: the parts of a step that take any time.
StackedBars step_bars(training::Prediction const& prediction);

/// One bar: the memory of the fullest accelerator, against what it may use.
StackedBars memory_bars(training::Prediction const& prediction);

/// Bars from the step as it is to the step with each change alone, the largest effect first.
StackedBars lever_bars(training::Prediction const& prediction, std::vector<training::LeverOutcome> const& levers);

/// Memory of at most so many stages in the course of the passes; empty where there is nothing to show.
std::optional<Chart> memory_chart(training::PassPicture const& picture,
                                  std::vector<training::StageMemoryCurve> const& stages,
                                  training::Prediction const& prediction, std::size_t most_stages);

/// Drawings and simulations that were asked for.
struct Views {
    bool compares = false;                                                          ///< --schedule all
    bool gantt = false;                                                             ///< --gantt
    bool draws = false;                                                             ///< the schedule, in the text
    bool simulates = false;                                                         ///< --simulate, or for a timeline
    training::CollectiveDetail collectives = training::CollectiveDetail::operation; ///< --simulate messages
    bool page = false; ///< --html: draws and simulates, in bounds
    std::optional<std::string> timeline = {}, memory_timeline = {};
};

/// Reads --gantt, --simulate, --timeline, --memory-timeline and --schedule; takes `all` away from the latter, which names no strategy.
/// Errors: InputError{usage} for collectives that are simulated in no such way.
Views read_views(Arguments& arguments, Output const& output);

/// Fills what is wanted; false when it was interrupted, with what is finished filled in.
/// Errors: InputError{usage} where there is no pipeline to draw or to compare, and where a timeline cannot be made.
bool fill_views(PredictionReport& report, Views const& views, Output const& output);

/// Drawing of the passes, with the bubble in words. Empty where there are none.
std::vector<Block> schedule_drawing(training::PassPicture const& picture, Seconds step);

std::vector<Block> schedule_comparison(std::vector<training::ScheduleOutcome> const& outcomes);

std::vector<Block> simulation_blocks(training::Simulation const& simulation);

/// Memory over a step as a Chrome trace: a process a stage with one counter, `memory`, in bytes. Its level is `total()` of the
/// passes under way, and its peak that of the closed form.
/// Errors: InputError{usage} for a schedule whose passes cannot be run one by one.
std::string memory_timeline(training::Prediction const& prediction, training::CalibrationSet const& calibration);

/// A simulated step as a Chrome trace: a process a stage, a thread a stream of it, an event a task, picoseconds exactly.
std::string step_trace(training::SimulatedStep const& step);

} // namespace headroom::cli
