#include "correlation.hpp"

namespace headroom {

double correlation(std::span<double const> values, double middle, std::size_t lag) {
    double together = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        squares += (values[i] - middle) * (values[i] - middle);
        if (i >= lag) { together += (values[i] - middle) * (values[i - lag] - middle); }
    }
    return squares > 0.0 ? together / squares : 0.0;
}

double correlated_run(std::span<double const> values, double middle, double lost) {
    double const n = static_cast<double>(values.size());
    double sum = 1.0;
    for (std::size_t lag = 1; lag + 1 < values.size() / 2; lag += 2) {
        double const both = correlation(values, middle, lag) + correlation(values, middle, lag + 1);
        if (both <= 0.0) { break; }
        sum += 2.0 * (both + 2.0 * lost / n);
    }
    return sum;
}

} // namespace headroom
