#pragma once

#include "support/random.hpp"
#include "tail_fit_cells.hpp"

#include "headroom/serving/tail_distribution.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace headroom::fit {

inline serving::LatencyHistogram drawn(std::function<double(double)> const& quantile_above, int count,
                                       std::uint64_t seed) {
    test::CounterRandom random{seed};
    serving::LatencyHistogram samples;
    for (int i = 0; i < count; ++i) { samples.record(quantile_above(random.uniform())); }
    return samples;
}

/// Excesses of a Pareto tail over 8, where a cell begins, in cells of 1/5000 of their scale.
inline serving::LatencyHistogram excesses(double shape, int count, std::uint64_t seed) {
    serving::TailDistribution const tail{
        .family = serving::TailFamily::pareto_tail, .a = 40.0, .b = shape, .threshold = 8.0};
    return drawn([&](double p) { return tail.quantile_above(p); }, count, seed);
}

inline std::vector<FilledCell> cells_from_threshold(serving::LatencyHistogram const& samples) {
    std::vector<FilledCell> cells = cells_of(samples);
    if (cells.front().low != 8.0) { cells.insert(cells.begin(), {8.0, 8.0078125, 0.0, cells.front().from}); }
    return cells;
}

} // namespace headroom::fit
