#include "predict/prediction_charts.hpp"

#include "document/text.hpp"
#include "predict/prediction_report.hpp"

namespace headroom::cli {

StackedBars step_bars(Prediction const& prediction) {
    TimeScale const scale = scale_of(prediction.step());
    StackedBars bars{.title = "The step", .unit = scale.name, .parts = {}, .labels = {"step"}, .values = {{}}};
    bars.caption = "What a step spends its time on, one part after the other; only what is not hidden behind something "
                   "else takes time.";
    for (auto const& [name, seconds] : parts_of(prediction.time)) {
        if (seconds / prediction.step() < 1e-6) { continue; } // as in the table beside it
        bars.parts.push_back(name);
        bars.values[0].push_back(seconds.in(scale.unit));
    }
    return bars;
}

StackedBars memory_bars(Prediction const& prediction) {
    StackedBars bars{.title = "Memory",
                     .unit = "GiB",
                     .parts = {},
                     .labels = {"accelerator"},
                     .values = {{}},
                     .limit = prediction.memory_usable.in(units::GiB),
                     .limit_name = "usable"};
    bars.caption = "What the memory of the fullest accelerator holds; " + format_binary(prediction.memory_usable) +
                   " of its " + format_binary(prediction.memory_capacity) + " are usable.";
    for (auto const& [name, size] : parts_of(prediction.memory)) {
        bars.parts.push_back(name);
        bars.values[0].push_back(size.in(units::GiB));
    }
    return bars;
}

} // namespace headroom::cli
