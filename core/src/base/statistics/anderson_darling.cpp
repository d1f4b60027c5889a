#include "anderson_darling.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headroom {
namespace {

/// prod_j (1 - 2 u / (j (j + 1))): its zeros are the whole numbers j (j + 1) / 2.
double determinant(double u) {
    return -std::cos(0.5 * std::numbers::pi * std::sqrt(1.0 + 8.0 * u)) / (2.0 * std::numbers::pi * u);
}

/// integral from `low` to `high` of exp(-x u) / (u sqrt|determinant|). By u = middle - half cos t, what grows beyond
/// limits at both ends is gone, and midpoints converge faster than any power of their number.
double between(double x, double low, double high) {
    constexpr int points = 64;
    double const middle = 0.5 * (low + high), half = 0.5 * (high - low);
    double sum = 0.0;
    for (int i = 0; i < points; ++i) {
        double const t = std::numbers::pi * (i + 0.5) / points;
        double const u = middle - half * std::cos(t);
        sum += std::exp(-x * u) * half * std::sin(t) / (u * std::sqrt(std::abs(determinant(u))));
    }
    return sum * std::numbers::pi / points;
}

} // namespace

double beyond_anderson_darling(double x) {
    constexpr double least = 0.05; // below it, to 1e-9, nothing lies
    if (x < least) { return 1.0; }
    // The inverse of the characteristic function along its cuts, which join every second zero to the next.
    double sum = 0.0, sign = 1.0;
    for (double j = 1.0;; j += 2.0) {
        double const part = between(x, 0.5 * j * (j + 1.0), 0.5 * (j + 1.0) * (j + 2.0));
        sum += sign * part;
        sign = -sign;
        if (part <= 1e-16 * sum) { break; }
    }
    return std::clamp(sum / std::numbers::pi, 0.0, 1.0);
}

double anderson_darling_deviation() { return std::sqrt(2.0 * std::numbers::pi * std::numbers::pi / 3.0 - 6.0); }

} // namespace headroom
