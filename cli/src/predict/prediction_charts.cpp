#include "predict/prediction_report.hpp"

#include "headroom/document/gantt_pieces.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace headroom::cli {
namespace {

constexpr double ticks_per_second = 1e12;
constexpr std::size_t most_steps = 300;

/// A staircase; of many steps the highest of every so many neighbours.
Series staircase(StageMemoryCurve const& curve, std::string name, Ticks makespan, TimeScale const& scale) {
    Series series{.name = std::move(name), .mark = Mark::smooth};
    auto const add = [&](Ticks at, Bytes level) {
        series.x.push_back(static_cast<double>(at) / ticks_per_second / scale.unit.base());
        series.y.push_back(level.in(units::GiB));
    };
    std::size_t const stride = (curve.times.size() + most_steps - 1) / most_steps;
    Bytes before = curve.base;
    add(0, before);
    for (std::size_t i = 0; i < curve.times.size(); i += stride) {
        Bytes level = curve.level[i];
        for (std::size_t j = i; j < std::min(i + stride, curve.level.size()); ++j) {
            level = std::max(level, curve.level[j]);
        }
        add(curve.times[i], before);
        add(curve.times[i], level);
        before = level;
    }
    add(makespan, before);
    return series;
}

std::string curve_peak_words(std::vector<StageMemoryCurve> const& stages) {
    auto const fullest = std::ranges::max_element(stages, {}, [](auto const& one) { return one.peak.base(); });
    auto const emptiest = std::ranges::min_element(stages, {}, [](auto const& one) { return one.peak.base(); });
    auto const name = [&stages](auto const& it) { return "stage " + std::to_string(it - stages.begin()); };
    std::string text = "The peak is " + format_binary(fullest->peak) + ", on " + name(fullest);
    if (fullest->peak > emptiest->peak) {
        text += "; the least full, " + name(emptiest) + ", reaches " + format_binary(emptiest->peak);
    }
    return text + ".";
}

} // namespace

std::optional<Chart> memory_chart(PassPicture const& picture, std::vector<StageMemoryCurve> const& stages,
                                  Prediction const& prediction, std::size_t most_stages) {
    if (!picture.drawn() || stages.empty()) { return std::nullopt; }
    TimeScale const scale = scale_of(Seconds{static_cast<double>(picture.run.makespan) / ticks_per_second});
    Chart chart{.title = "The stages' memory over the passes, GiB",
                .caption = "A stage holds the activations of a micro-batch from its forward pass to the end of its "
                           "backward pass. " +
                           curve_peak_words(stages),
                .x = {.title = scale.name},
                .y = {.title = "GiB"},
                .rules = {{.vertical = false,
                           .at = prediction.memory_usable.in(units::GiB),
                           .label = "usable " + format_binary(prediction.memory_usable)}},
                .chosen = {}};
    for (std::size_t const stage : drawn_lanes(stages.size(), most_stages)) {
        chart.series.push_back(staircase(stages[stage], "stage " + std::to_string(stage), picture.run.makespan, scale));
    }
    if (stages.size() > most_stages) {
        chart.caption +=
            " " + std::to_string(most_stages) + " of " + std::to_string(stages.size()) + " stages are drawn.";
    }
    return chart;
}

StackedBars step_bars(Prediction const& prediction) {
    TimeScale const scale = scale_of(prediction.step());
    StackedBars bars{.title = "The step", .unit = scale.name, .parts = {}, .labels = {"step"}, .values = {{}}};
    bars.caption =
        "Time of a step by cause, one after the other; work that overlaps with something else is not counted.";
    for (auto const& [name, seconds] : named_parts(prediction.time)) {
        if (seconds / prediction.step() < 1e-6) { continue; } // as in the table beside it
        bars.parts.push_back(name);
        bars.values[0].push_back(seconds.in(scale.unit));
    }
    return bars;
}

StackedBars lever_bars(Prediction const& prediction, std::vector<LeverOutcome> const& levers) {
    TimeScale const scale = scale_of(prediction.step());
    StackedBars bars{
        .title = "What would change the step", .unit = scale.name, .parts = {"step"}, .labels = {}, .values = {}};
    bars.caption = "The step with each change alone, the largest effect first. A bar to the left is a faster step.";
    bars.limit = bars.origin = prediction.step().in(scale.unit);
    bars.limit_name = "now";
    std::vector<LeverOutcome const*> order;
    for (LeverOutcome const& lever : levers) { order.push_back(&lever); }
    std::ranges::stable_sort(order, std::greater{}, [&](LeverOutcome const* lever) {
        return std::abs((lever->prediction.step() - prediction.step()).base());
    });
    for (LeverOutcome const* lever : order) {
        bars.labels.push_back(lever->name + (lever->prediction.fits ? "" : " (does not fit)"));
        bars.values.push_back({lever->prediction.step().in(scale.unit)});
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
    bars.caption = "Memory of the fullest accelerator by content; " + format_binary(prediction.memory_usable) +
                   " of its " + format_binary(prediction.memory_capacity) + " are usable.";
    for (auto const& [name, size] : parts_of(prediction.memory)) {
        bars.parts.push_back(name);
        bars.values[0].push_back(size.in(units::GiB));
    }
    return bars;
}

} // namespace headroom::cli
