#pragma once

#include "options.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::step_example {

/// A step as one worker measured it; times are medians over steps.
struct StepProfile {
    NetworkShape shape = {};
    std::size_t batch = 0; ///< sequences
    bool is_double = false;
    double forward = 0.0, backward = 0.0, optimizer = 0.0; ///< seconds

    /// From this place to the end of the vector gradients are finished so many seconds after the backward pass began.
    struct Mark {
        std::size_t place = 0;
        double seconds = 0.0;
    };
    std::vector<Mark> marks = {}; ///< in order of time; the last is place 0 at the end of the pass

    [[nodiscard]] std::size_t element_bytes() const { return is_double ? sizeof(double) : sizeof(float); }
    [[nodiscard]] std::size_t gradient_bytes() const { return shape.parameters() * element_bytes(); }
    /// When all of [place, end) is finished.
    [[nodiscard]] double ready(std::size_t place) const;
};

/// Reads the JSON of a run of one worker. Errors: InputError (unreadable) with the `name` of the file.
StepProfile read_profile(std::string_view text, std::string const& name);

/// A step on some workers as it follows from that of one; seconds.
struct PredictedStep {
    int workers = 1;
    std::size_t share = 0; ///< sequences of the fullest worker
    double step = 0.0;
    double forward = 0.0, backward = 0.0, optimizer = 0.0;
    double all_reduce = 0.0, exposed = 0.0;
    double slowed = 0.0;                ///< of the backward pass, by the exchange that overlaps; not in `backward`
    double gamma = 0.0;                 ///< all of the all-reduce over all computing
    double serial_share = 0.0;          ///< s on `workers`: what does not divide, over the step
    double speedup = 1.0;               ///< in sequences a second, over one worker
    std::optional<double> ceiling = {}; ///< of the speedup if what does not divide stayed; strong scaling alone
};

/// A step on K workers from one worker's profile; batch, bucket, overlap, algorithm, link and load are those of the
/// options.
///
///     F, B = of one worker, times its share of the batch over that of the profile
///     T    = F + B + X + O,   X = exposed part of the all-reduce of all buckets, and the slowing of B,   O = optimizer
///     s    = (X + O) / T,     S = T_1 / T (strong), K T_1 / T (weak),   ceiling = (K (F + B) + X + O) / (X + O)
///
/// The optimizer works on all parameters whatever the batch, so it divides as little as the exchange does. While it
/// overlaps with the backward pass, the exchange takes `load` of the worker's processor, see `bucketed_exchange`.
/// Holds for:  any K >= 1 that the algorithm takes.
/// Assumes:    forward and backward take time in proportion to the sequences; workers are alike and wait for nothing else.
/// Errors:     InputError (usage) where no closed form is known for so many workers.
/// Source:     [Amdahl1967], [Li2020], [Thakur2005]
PredictedStep predict_step(StepProfile const& profile, Options const& options, int workers);

} // namespace headroom::step_example
