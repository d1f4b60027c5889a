#include "base/statistics/anderson_darling.hpp"
#include "joint_cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::serving {
namespace {

using Cells = std::vector<LatencyHistogram::Cell>;

Cells cells_of(LatencyHistogram const& samples) {
    Cells cells;
    samples.each([&](LatencyHistogram::Cell const& cell) { cells.push_back(cell); });
    return cells;
}

/// sum 1/i for i from 1 to n.
double harmonic(double n) {
    if (n > 100.0) { return std::log(n) + 0.5772156649015329 + 0.5 / n - 1.0 / (12.0 * n * n); }
    double sum = 0.0;
    for (double i = n; i >= 1.0; i -= 1.0) { sum += 1.0 / i; }
    return sum;
}

/// sum over i < j < n of 1 / ((n - i) j); towards pi^2 / 6 for many.
double double_sum(double n) {
    constexpr double summed = 1e5;
    double const pi_sixth = std::acos(-1.0) * std::acos(-1.0) / 6.0;
    if (n > summed) { return pi_sixth; }
    double sum = 0.0, inner = 0.0; // inner: of 1 / j for the j above i
    for (double i = n - 2.0; i >= 1.0; i -= 1.0) {
        inner += 1.0 / (i + 1.0);
        sum += inner / (n - i);
    }
    return sum;
}

/// Standard deviation of A^2 when both runs are of one distribution without equal values: their equation 4 for two
/// samples.
double deviation_of(double first, double second) {
    double const n = first + second, k = 2.0;
    double const h_inverse = 1.0 / first + 1.0 / second, h = harmonic(n - 1.0), g = double_sum(n);
    double const a = (4.0 * g - 6.0) * (k - 1.0) + (10.0 - 6.0 * g) * h_inverse;
    double const b =
        (2.0 * g - 4.0) * k * k + 8.0 * h * k + (2.0 * g - 14.0 * h - 4.0) * h_inverse - 8.0 * h + 4.0 * g - 6.0;
    double const c =
        (6.0 * h + 2.0 * g - 2.0) * k * k + (4.0 * h - 4.0 * g + 6.0) * k + (2.0 * h - 6.0) * h_inverse + 4.0 * h;
    double const d = (2.0 * h + 6.0) * k * k - 4.0 * h * k;
    double const above = ((a * n + b) * n + c) * n + d;
    return std::sqrt(above / ((n - 1.0) * (n - 2.0) * (n - 3.0)));
}

/// Their equation 7 for two samples, where both terms of it are one.
double statistic(std::vector<JointCell> const& cells, double first, double second) {
    double const n = first + second;
    double sum = 0.0, before = 0.0, first_before = 0.0;
    for (JointCell const& cell : cells) {
        double const here = cell.first + cell.second;
        double const below = before + 0.5 * here, first_below = first_before + 0.5 * cell.first;
        double const weight = below * (n - below) - 0.25 * n * here;
        double const off = n * first_below - first * below;
        if (weight > 0.0) { sum += here / n * off * off / weight; }
        before += here;
        first_before += cell.first;
    }
    return (n - 1.0) / n * sum * (1.0 / first + 1.0 / second);
}

} // namespace

std::vector<JointCell> joint_cells(LatencyHistogram const& first, LatencyHistogram const& second) {
    Cells const left = cells_of(first), right = cells_of(second);
    std::vector<JointCell> joint;
    auto one = left.begin(), other = right.begin();
    while (one != left.end() || other != right.end()) {
        double const low = std::min(one != left.end() ? one->low : std::numeric_limits<double>::infinity(),
                                    other != right.end() ? other->low : std::numeric_limits<double>::infinity());
        JointCell cell;
        if (one != left.end() && one->low == low) { cell.first = static_cast<double>((one++)->count); }
        if (other != right.end() && other->low == low) { cell.second = static_cast<double>((other++)->count); }
        joint.push_back(cell);
    }
    return joint;
}

TailDistance tail_distance(std::vector<JointCell> const& cells, double inflation) {
    double first = 0.0, second = 0.0;
    for (JointCell const& cell : cells) {
        first += cell.first;
        second += cell.second;
    }
    double const square = statistic(cells, first, second) / inflation;
    double const normalised = (square - 1.0) / deviation_of(first, second);
    // of few samples the deviation is another, and the shape of the distribution nearly the same
    return {.normalised = normalised,
            .probability = beyond_anderson_darling(1.0 + anderson_darling_deviation() * normalised)};
}

} // namespace headroom::serving
