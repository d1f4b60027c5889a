#include "normal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headroom {

double normal_beyond(double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); }

double log_normal_density(double x) { return -0.5 * x * x - 0.5 * std::log(2.0 * std::numbers::pi); }

double normal_exceeded_by(double share) {
    if (share > 0.5) { return -normal_exceeded_by(1.0 - share); }
    // Newton on ln P(Z > x), which is concave: from a point right of the root every step stays there, and
    // exp(-x^2/2)/2 >= P(Z > x) gives one.
    constexpr int most_steps = 50;
    double x = std::sqrt(std::max(0.0, -2.0 * std::log(2.0 * share)));
    for (int step = 0; step < most_steps; ++step) {
        double const above = normal_beyond(x);
        double const change = std::log(above / share) * above / std::exp(log_normal_density(x));
        x += change;
        if (std::abs(change) <= 1e-15 * std::abs(x)) { break; }
    }
    return x;
}

} // namespace headroom
