#pragma once

#include "options.hpp"
#include "profile.hpp"

#include <array>
#include <optional>
#include <vector>

namespace headroom::step_example {

/// Phases of a step, then the whole, then the time that buckets took, hidden or not.
enum Phase { forward, backward, exposed, optimizer, whole_step, all_reduce, phases };

/// Seconds of the phases of a step; of several workers each the longest.
using PhaseTimes = std::array<double, phases>;

/// Measured steps.
struct RunResult {
    std::vector<PhaseTimes> steps = {};
    std::vector<double> losses = {}; ///< of all sequences, step by step, warm-up too; empty: a replay
    StepProfile profile = {};        ///< of this worker
    std::size_t buckets = 0;

    // of `Mode::check`: the largest differences from one process
    double loss_difference = 0.0;     ///< relative
    double gradient_difference = 0.0; ///< root of the sum of squares, over that of the gradients

    [[nodiscard]] double median(Phase phase) const;
};

/// The differences that rounding explains, as `check` allows them.
constexpr double allowed_difference(bool is_double) { return is_double ? 1e-12 : 2e-5; }

/// Runs the steps that are asked for; `replayed` is the profile to sleep by.
RunResult run_steps(Options const& options, std::optional<StepProfile> const& replayed, Job& job);

} // namespace headroom::step_example
