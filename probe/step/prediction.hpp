#pragma once

#include "profile.hpp"

#include "headroom/machine.hpp"

#include <optional>
#include <string>

namespace headroom::training {

/// How workers divide a batch and add up their gradients.
struct Division {
    std::size_t batch = 0; ///< sequences: of all workers, or of each
    bool local = false;
    double bucket_bytes = 1e6;
    bool overlap = false;
    std::string algorithm = "ring"; ///< a row of the table of collectives
    Link link = {};
    double load = 0.0; ///< share of a worker's processor that its exchange takes while it is under way

    /// Sequences of the worker that has most of them.
    [[nodiscard]] std::size_t largest_share(std::size_t workers) const;
};

struct PredictedStep {
    int workers = 1;
    std::size_t share = 0; ///< sequences of the fullest worker
    double step = 0.0;     ///< seconds, as all that follow
    double forward = 0.0, backward = 0.0, optimizer = 0.0;
    double all_reduce = 0.0, exposed = 0.0;
    double slowed = 0.0;           ///< of the backward pass, by the exchange beside it; not in `backward`
    double gamma = 0.0;            ///< all of the all-reduce over all computing
    double serial_share = 0.0;     ///< s on `workers`: what does not divide, over the step
    double speedup = 1.0;          ///< in sequences a second, over one worker
    std::optional<double> ceiling; ///< of the speedup if what does not divide stayed; strong scaling alone
};

/// A step on K workers from what one measured.
///
///     F, B = of one worker, times its share of the batch over that of the profile
///     T    = F + B + X + O,   X = exposed part of the all-reduce of all buckets, and what it slowed B,   O = optimizer
///     s    = (X + O) / T,     S = T_1 / T (strong), K T_1 / T (weak),   ceiling = (K (F + B) + X + O) / (X + O)
///
/// The optimizer works on all parameters whatever the batch, so it divides as little as the exchange does. Beside the
/// backward pass the exchange takes its processor: `Division::load` of it, see `bucketed_exchange`.
/// Holds for:  any K >= 1 that the algorithm takes.
/// Assumes:    forward and backward take time in proportion to the sequences; workers are alike and wait for nothing else.
/// Errors:     InputError (usage) where no closed form is known for so many workers.
/// Source:     [Amdahl1967], [Li2020], [Thakur2005]
PredictedStep predict_step(StepProfile const& profile, Division const& division, int workers);

} // namespace headroom::training
