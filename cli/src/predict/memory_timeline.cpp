#include "predict/memory_timeline.hpp"

#include "arguments.hpp"

#include "headroom/document/chrome_trace.hpp"
#include "headroom/training/memory.hpp"
#include "headroom/training/pass_picture.hpp"
#include "headroom/training/training_answers.hpp"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace headroom::cli {

using namespace headroom::document;
using namespace headroom::training;

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

} // namespace headroom::cli
