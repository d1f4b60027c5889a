#pragma once

#include "job.hpp"
#include "options.hpp"
#include "profile.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::training {

/// Seconds of a step's phases; of several workers each the longest.
struct PhaseTimes {
    double forward = 0.0, backward = 0.0, exposed = 0.0, optimizer = 0.0, step = 0.0;
    double all_reduce = 0.0; ///< that buckets took, hidden or not
};

/// What a run of steps found out.
struct RunResult {
    std::vector<PhaseTimes> steps = {};
    std::vector<double> losses = {}; ///< of all sequences, step by step, warm-up too; empty: a replay
    StepProfile profile = {};        ///< of this worker
    std::size_t buckets = 0;
    double overshoot = 0.0; ///< seconds taken off each sleep of a replay

    // of `Mode::check`: the largest differences from one process
    double loss_difference = 0.0;     ///< relative
    double gradient_difference = 0.0; ///< root of the sum of squares, over that of the gradients
};

/// The differences that rounding explains, as `check` allows them.
double allowed_difference(bool is_double);

/// Runs the steps that are asked for; `replayed` is the profile to sleep by.
/// Errors: InputError (usage) where there are fewer sequences than workers.
RunResult run_steps(Options const& options, Gemm const& gemm, std::optional<StepProfile> const& replayed, Job& job);

/// The middle of the values; of an even number the lower of the two.
double median(std::vector<double> values);

} // namespace headroom::training
