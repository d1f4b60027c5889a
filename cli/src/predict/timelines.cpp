#include "predict/prediction_report.hpp"

#include "headroom/document/chrome_trace.hpp"
#include "headroom/training/memory.hpp"
#include "headroom/training/pass_picture.hpp"
#include "headroom/training/training_answers.hpp"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace headroom::cli {

std::string memory_timeline(Prediction const& prediction, CalibrationSet const& calibration) {
    PassPicture const picture = passes_of(prediction, calibration);
    if (!picture.drawn()) {
        refuse("--memory-timeline", "there is no timeline of this step", picture.refused,
               "ask for fewer micro-batches: --global-batch");
    }
    StepContext const context{prediction, calibration};
    auto const curves =
        memory_over_time(context.setting(), prediction.question.strategy, picture.order, picture.times, picture.run);
    ChromeTrace trace{"time", 2 * picture.order.passes.size() + curves.size()};
    for (std::size_t stage = 0; stage < curves.size(); ++stage) {
        auto const& curve = curves[stage];
        int const process = static_cast<int>(stage);
        trace.name_process(process, "stage " + std::to_string(stage));
        auto const add = [&](Ticks time, Bytes level) {
            trace.add_counter({.process = process,
                               .name = "memory",
                               .quantity = "bytes",
                               .time = microseconds_of(time),
                               .value = std::llround(level.base())});
        };
        if (curve.times.empty() || curve.times.front() > 0) { add(0, curve.base); }
        for (std::size_t i = 0; i < curve.times.size(); ++i) { add(curve.times[i], curve.level[i]); }
    }
    return std::move(trace).text();
}

namespace {

/// "compute" of "stage 3 compute": the name of the process has the stage already.
std::string_view name_of_stream(Stream const& stream) {
    std::string_view name = stream.name;
    std::string const prefix = "stage " + std::to_string(stream.chip) + " ";
    if (name.starts_with(prefix)) { name.remove_prefix(prefix.size()); }
    return name;
}

void name_lanes(ChromeTrace& trace, StreamProgram const& program) {
    int chip = -1;
    for (std::size_t i = 0; i < program.streams.size(); ++i) {
        Stream const& stream = program.streams[i];
        if (stream.chip != chip) {
            chip = stream.chip;
            trace.name_process(chip, "stage " + std::to_string(chip));
        }
        trace.name_thread(chip, static_cast<int>(i), name_of_stream(stream));
    }
}

void add_task(ChromeTrace& trace, SimulatedStep const& step, std::size_t task, std::vector<TraceArgument>& arguments) {
    StreamProgram const& program = step.program;
    StreamId const lane = program.stream[task];
    std::string_view const kind = name_of(program.kind[task]);
    arguments.clear();
    arguments.push_back({"kind", kind});
    TaskPlace const place = step.places.empty() ? TaskPlace{} : step.places[task];
    if (place.micro_batch >= 0) {
        arguments.push_back({"phase", name_of(place.phase)});
        arguments.push_back({"micro_batch", std::int64_t{place.micro_batch}});
        arguments.push_back({"chunk", std::int64_t{place.chunk}});
    }
    if (place.layer >= 0) { arguments.push_back({"layer", std::int64_t{place.layer}}); }
    Ticks const begin = step.run.begin[task], end = step.run.end[task];
    trace.add({.process = program.streams[lane].chip,
               .thread = static_cast<int>(lane),
               .name = program.names[program.name[task]],
               .category = kind,
               .begin = microseconds_of(begin),
               .duration = microseconds_of(end - begin)},
              arguments);
}

} // namespace

std::string step_trace(SimulatedStep const& step) {
    ChromeTrace trace{"time", step.program.size()};
    name_lanes(trace, step.program);
    std::vector<TraceArgument> arguments;
    for (std::size_t task = 0; task < step.program.size(); ++task) { add_task(trace, step, task, arguments); }
    return std::move(trace).text();
}

} // namespace headroom::cli
