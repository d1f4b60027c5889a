#include "kolmogorov.hpp"

#include <algorithm>
#include <cmath>

namespace headroom {

double beyond_brownian_bridge(double x) {
    if (x < 0.2) { return 1.0; } // to 1e-12
    double sum = 0.0, sign = 1.0;
    for (double k = 1.0;; k += 1.0) {
        double const term = std::exp(-2.0 * k * k * x * x);
        sum += sign * term;
        sign = -sign;
        if (term <= 1e-17 * sum) { break; }
    }
    return std::clamp(2.0 * sum, 0.0, 1.0);
}

} // namespace headroom
