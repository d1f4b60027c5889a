#include "none_drawn.hpp"

#include "base/statistics/binomial.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::serving {

double none_drawn(double m, double k, double n) {
    constexpr double one_by_one = 64.0;
    if (m + k > n) { return 0.0; }
    double const fewer = std::min(m, k), more = std::max(m, k);
    if (fewer <= one_by_one) {
        double product = 1.0;
        for (double j = 0.0; j < fewer; ++j) { product *= (n - more - j) / (n - j); }
        return product;
    }
    double const left = n - fewer - more;
    if (left < 1.0) { return 0.0; } // below 1e-37
    // ln of (n - m)! (n - k)! / (n! (n - m - k)!) by Stirling, where what is equal has gone.
    double const rest = stirling_error(n - fewer) + stirling_error(n - more) - stirling_error(n) - stirling_error(left);
    double const logarithm = (n + 0.5) * std::log1p(-fewer / n) - (n - more + 0.5) * std::log1p(-fewer / (n - more)) +
                             fewer * std::log1p(-more / (n - fewer));
    return std::exp(rest + logarithm);
}

} // namespace headroom::serving
