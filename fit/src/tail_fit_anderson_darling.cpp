#include "tail_fit_cells.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::fit {

using namespace headroom::serving;

namespace {

/// A place on the way from F = 0 to 1.
struct Place {
    double below = 0.0, above = 1.0; ///< F and 1 - F, each to its own last digit
    double seen = 0.0;               ///< share of the samples that is not above
};

/// Integral of (seen - F)^2 / (F (1 - F)) dF between two places, seen growing linearly with F.
double between(Place const& from, Place const& to) {
    constexpr double narrow = 0.01;
    double const width = from.above - to.above;
    double const middle_below = 0.5 * (from.below + to.below), middle_above = 0.5 * (from.above + to.above);
    if (!(width > 0.0)) { return 0.0; }
    if (width < narrow * std::min(middle_below, middle_above)) { // the weight hardly changes
        double const left = from.seen - from.below, right = to.seen - to.below;
        return width * (left * left + left * right + right * right) / (3.0 * middle_below * middle_above);
    }
    // With seen = s + r F: (s + (r-1) F)^2 / (F (1-F)) = -(r-1)^2 + s^2 / F + (s+r-1)^2 / (1-F).
    double const rate = (to.seen - from.seen) / width;
    double const at_zero = from.below == 0.0 ? 0.0 : from.seen - rate * from.below;
    double const at_one = to.above == 0.0 ? 0.0 : to.seen + rate * to.above - 1.0;
    double sum = -(rate - 1.0) * (rate - 1.0) * width;
    if (from.below > 0.0) { sum += at_zero * at_zero * std::log(to.below / from.below); }
    if (to.above > 0.0) { sum += at_one * at_one * std::log(from.above / to.above); }
    return std::max(0.0, sum);
}

// Critical values of A^2 for these probabilities: of 12,000 samples of 400 each for every shape, fitted as above. The
// fit of shapes below -0.5 is not regular, and that of -1 stands at the end of what is allowed.
constexpr std::array probabilities{0.95, 0.75, 0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 0.005, 0.001};
constexpr std::array shapes{-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0};
constexpr std::array<std::array<double, probabilities.size()>, shapes.size()> critical_values{{
    {0.247, 0.418, 0.642, 1.034, 1.653, 2.167, 2.724, 3.463, 4.163, 5.936},
    {0.218, 0.341, 0.494, 0.738, 1.068, 1.329, 1.606, 1.969, 2.267, 2.921},
    {0.205, 0.324, 0.459, 0.675, 0.966, 1.201, 1.419, 1.727, 2.004, 2.829},
    {0.190, 0.297, 0.426, 0.624, 0.877, 1.063, 1.270, 1.571, 1.778, 2.323},
    {0.182, 0.284, 0.394, 0.565, 0.781, 0.962, 1.144, 1.363, 1.548, 2.041},
    {0.176, 0.270, 0.373, 0.521, 0.731, 0.875, 1.035, 1.236, 1.404, 1.844},
    {0.169, 0.261, 0.357, 0.498, 0.684, 0.826, 0.974, 1.183, 1.300, 1.794},
    {0.165, 0.246, 0.336, 0.466, 0.632, 0.751, 0.886, 1.069, 1.218, 1.585},
}};

} // namespace

double anderson_darling(std::span<FilledCell const> cells, ParetoFit const& fit) {
    double const threshold = cells.front().low, n = cells.front().from;
    TailDistribution const tail{
        .family = TailFamily::pareto_tail, .a = fit.scale, .b = fit.shape, .threshold = threshold};
    auto const place = [&](double x, double seen) {
        double const above = tail.share_above(x);
        return Place{.below = 1.0 - above, .above = above, .seen = seen};
    };
    double sum = 0.0;
    Place last;
    for (FilledCell const& cell : cells) {
        Place const low = place(cell.low, last.seen);
        sum += between(last, low);
        last = place(cell.high, 1.0 - (cell.from - cell.count) / n);
        sum += between(low, last);
    }
    return n * (sum + between(last, {.below = 1.0, .above = 0.0, .seen = 1.0}));
}

double anderson_darling_probability(double statistic, double shape) {
    double const place = std::clamp(shape, shapes.front(), shapes.back());
    auto const above = std::ranges::upper_bound(shapes, place);
    auto const right = static_cast<std::size_t>(std::min(above, shapes.end() - 1) - shapes.begin());
    double const part = (place - shapes[right - 1]) / (shapes[right] - shapes[right - 1]);
    auto const critical = [&](std::size_t at) {
        return (1.0 - part) * critical_values[right - 1][at] + part * critical_values[right][at];
    };
    if (statistic <= critical(0)) { return 1.0 - (1.0 - probabilities[0]) * statistic / critical(0); }
    std::size_t at = 1;
    while (at + 1 < probabilities.size() && statistic > critical(at)) { ++at; }
    // ln P is nearly straight in A^2, and goes on so beyond the last column.
    double const far = (statistic - critical(at - 1)) / (critical(at) - critical(at - 1));
    return probabilities[at - 1] * std::pow(probabilities[at] / probabilities[at - 1], far);
}

} // namespace headroom::fit
