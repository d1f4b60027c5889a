#pragma once

#include <optional>
#include <string_view>

namespace headroom::io {

/// Figure by which the time of a step is stated.
enum class StepFigure {
    seconds,
    steps_per_second,
    tokens_per_second,
    tokens_per_second_per_accelerator,
    samples_per_second,
    samples_per_second_per_accelerator,
    steps_per_second_per_accelerator, ///< Composer's: those of all over the accelerators
};

/// Meaning of a head that divides by a time, or a time by steps.
struct StepRate {
    StepFigure figure = StepFigure::seconds;
    double scale = 1.0;       ///< of a number to the figure's unit: 1/60 of "tokens/min"
    bool scope_stated = true; ///< false: "tokens/s", which may be of all accelerators or of one
    int rank = 0;             ///< the lower the surer, of several heads
};
/// "s/it", "tok/s/GPU", "train/samples_per_second", "device/tokens_per_second", "tokens/day"; empty where a word is of no rate.
std::optional<StepRate> step_rate(std::string_view head);

} // namespace headroom::io
