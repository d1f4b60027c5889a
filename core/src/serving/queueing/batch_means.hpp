#pragma once

#include "headroom/serving/queue_simulation.hpp"

#include <span>

namespace headroom::serving::queueing {

/// One batch: a sum, and over how much (requests, or time).
struct BatchSum {
    double sum = 0.0, over = 0.0;
};

/// The ratio of all sums, with Student's interval of 95 % from how far single batches are off it.
///
///     r = sum x / sum n,   d_i = x_i - r n_i,   half = t sqrt(B / (B - 1) sum d_i^2) / sum n sqrt((1 + a) / (1 - a))
///
/// `a` is the correlation of neighbouring batches, where above zero, with what a short series lacks of it: batches too
/// short to be independent widen the interval instead of narrowing it.
/// Source: [LawKelton2000]
SimulatedMean batch_mean(std::span<BatchSum const> batches);

} // namespace headroom::serving::queueing
