#pragma once

#include "headroom/serving/latency_histogram.hpp"

#include <vector>

namespace headroom::serving {

/// Numbers of samples of two runs in one cell.
struct JointCell {
    double first = 0.0, second = 0.0;
};

/// Joint counts of each cell that is not empty, from the smallest values on.
std::vector<JointCell> joint_cells(LatencyHistogram const& first, LatencyHistogram const& second);

/// Anderson and Darling's two-sample statistic, equal values sharing the mean of their ranks.
struct TailDistance {
    double normalised = 0.0;  ///< (A^2 - 1) over its standard deviation without a difference
    double probability = 1.0; ///< of it by chance
};

/// `inflation`: by how much more the difference of both shares varies than with independent samples.
/// Source: [ScholzStephens1987]
TailDistance tail_distance(std::vector<JointCell> const& cells, double inflation);

} // namespace headroom::serving
