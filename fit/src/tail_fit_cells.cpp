#include "tail_fit_cells.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {

using namespace headroom::serving;

std::vector<FilledCell> cells_of(LatencyHistogram const& samples) {
    std::vector<FilledCell> cells;
    double from = static_cast<double>(samples.count());
    samples.each([&](LatencyHistogram::Cell const& cell) {
        double const count = static_cast<double>(cell.count);
        cells.push_back({.low = cell.low, .high = cell.high, .count = count, .from = from});
        from -= count;
    });
    return cells;
}

double aicc_of(double log_likelihood, double samples) {
    constexpr double coefficients = 2.0;
    return -2.0 * log_likelihood + 2.0 * coefficients +
           2.0 * coefficients * (coefficients + 1.0) / (samples - coefficients - 1.0);
}

double distance_of(TailDistribution const& distribution, std::span<FilledCell const> cells) {
    double const all = cells.front().from;
    double most = 0.0, edge = -1.0, above = 1.0;
    for (FilledCell const& cell : cells) {
        if (cell.low != edge) { above = distribution.share_above(cell.low) / distribution.share_beyond; }
        most = std::max(most, std::abs(above - cell.from / all));
        edge = cell.high;
        above = distribution.share_above(edge) / distribution.share_beyond;
        most = std::max(most, std::abs(above - (cell.from - cell.count) / all));
    }
    return most;
}

double tail_error_of(TailDistribution const& distribution, LatencyHistogram const& samples) {
    constexpr double fewest_beyond = 10.0;
    double const n = static_cast<double>(samples.count());
    double most = 0.0;
    for (double above = 0.1; n * above >= fewest_beyond * (1.0 - 1e-9); above /= 10.0) {
        double const seen = samples.quantile(1.0 - above);
        if (!(seen > 0.0) || above > distribution.share_beyond) { continue; }
        most = std::max(most, std::abs(distribution.quantile_above(above) / seen - 1.0));
    }
    return most;
}

} // namespace headroom::fit
