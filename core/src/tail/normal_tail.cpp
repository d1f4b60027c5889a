#include "tail/normal_tail.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headroom {

double normal_above(double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); }

double log_normal_density(double x) { return -0.5 * x * x - 0.5 * std::log(2.0 * std::numbers::pi); }

double normal_quantile_above(double tail) {
    // Newton on ln P(X > x), which is concave: from a point right of the root every step stays there, and
    // exp(-x^2/2)/2 >= P(X > x) gives one.
    constexpr int most_steps = 50;
    double x = std::sqrt(std::max(0.0, -2.0 * std::log(2.0 * tail)));
    for (int step = 0; step < most_steps; ++step) {
        double const above = normal_above(x);
        double const change = std::log(above / tail) * above / std::exp(log_normal_density(x));
        x += change;
        if (std::abs(change) <= 1e-15 * std::abs(x)) { break; }
    }
    return x;
}

} // namespace headroom
