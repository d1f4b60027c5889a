#pragma once

#include "headroom/serving/latency_histogram.hpp"

#include <vector>

namespace headroom::serving {

/// A value that is taken, and what share of all lies above it.
struct SampleStep {
    double value = 0.0;
    double above = 0.0; ///< P(X > value)
};

/// A distribution over single values, in ascending order; the last has nothing above it.
using SampleSteps = std::vector<SampleStep>;

/// The values of a histogram: one for each cell, and the least and the greatest sample as they are.
/// Errors: InputError{insufficient} where it is empty.
SampleSteps steps_of(LatencyHistogram const& samples);

/// Sum of value times its probability.
double mean_of(SampleSteps const& steps);

/// The smallest value that at most a share `above` exceeds.
double value_exceeded_by(SampleSteps const& steps, double above);

/// P(X > x), and P(X >= x).
double share_above(SampleSteps const& steps, double x);
double share_from(SampleSteps const& steps, double x);

} // namespace headroom::serving
