#include "headroom/order_statistics.hpp"

#include "base/quantity/demand.hpp"
#include "normal.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace headroom {

namespace {

/// ln P(X <= x), to the last digit on both sides of zero.
double log_normal_below(double x) { return x > 0.0 ? std::log1p(-normal_beyond(x)) : std::log(normal_beyond(-x)); }

void check_spread(double spread) { demand_amount(spread, "spread", "give standard deviation over mean, e.g. 0.02"); }

} // namespace

double expected_maximum_normal(Ranks count) {
    // The trapezoidal rule on the whole line converges faster than any power of the step for an analytic integrand;
    // at 1/32 the error is below rounding even for the narrowest density, that of the largest k. Outside the
    // bounds the integrand is below 1e-20 for every k.
    constexpr double step = 1.0 / 32.0;
    constexpr int first = -10 * 32, last = 13 * 32;
    if (count.count() == 1) { return 0.0; }
    double const k = count.count();
    double sum = 0.0;
    for (int i = first; i <= last; ++i) {
        double const x = i * step;
        sum += x * std::exp(std::log(k) + log_normal_density(x) + (k - 1.0) * log_normal_below(x));
    }
    return sum * step;
}

double expected_maximum_exponential(Ranks count) {
    constexpr int exact_below = 64; // from there on the series is exact to rounding
    double const k = count.count();
    if (count.count() >= exact_below) {
        double const square = 1.0 / (k * k);
        return std::log(k) + std::numbers::egamma + 0.5 / k -
               square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0));
    }
    double sum = 0.0;
    for (int i = count.count(); i >= 1; --i) { sum += 1.0 / i; }
    return sum;
}

double probability_any_slow(double probability, Ranks count) {
    demand_share(probability, "probability of a slow rank", "give 0 to 1, e.g. 0.01");
    return -std::expm1(count.count() * std::log1p(-probability));
}

double slowest_over_mean(double spread, Ranks count) {
    check_spread(spread);
    return 1.0 + spread * expected_maximum_normal(count);
}

double largest_over_mean(std::span<double const> work) {
    constexpr char const* hint = "give one amount of work for each rank, e.g. 1 1 1.2 1";
    if (work.empty()) { refuse("work of the ranks", "empty", {}, hint); }
    double largest = 0.0;
    for (std::size_t rank = 0; rank < work.size(); ++rank) {
        demand_amount(work[rank], "work of rank " + std::to_string(rank), hint);
        largest = std::max(largest, work[rank]);
    }
    if (largest == 0.0) { refuse("work of the ranks", "all zero", "nothing has no largest part", hint); }
    double sum = 0.0; // in units of the largest: neither over- nor underflows
    for (double const amount : work) { sum += amount / largest; }
    return static_cast<double>(work.size()) / sum;
}

double expected_imbalance(double spread, double sequences_per_rank, Ranks ranks) {
    constexpr char const* hint = "give the sequences that a rank sums in a step, at least 1";
    check_spread(spread);
    demand_positive(sequences_per_rank, "sequences of a rank", hint);
    if (sequences_per_rank < 1.0) { refuse("sequences of a rank", "below one", {}, hint); }
    return std::min<double>(ranks.count(), slowest_over_mean(spread / std::sqrt(sequences_per_rank), ranks));
}

double quantile(std::vector<double> values, double share) {
    if (values.empty()) { return 0.0; }
    std::ranges::sort(values);
    double const position = share * static_cast<double>(values.size() - 1);
    auto const below = static_cast<std::size_t>(position);
    auto const above = std::min(below + 1, values.size() - 1);
    double const weight = position - static_cast<double>(below);
    return values[below] * (1.0 - weight) + values[above] * weight;
}

double weighted_quantile(std::vector<WeightedValue> values, double share) {
    std::ranges::sort(values, {}, &WeightedValue::value);
    double total = 0.0, below = 0.0;
    for (auto const& one : values) { total += one.weight; }
    for (auto const& one : values) {
        below += one.weight;
        if (below >= share * total) { return one.value; }
    }
    return values.empty() ? 0.0 : values.back().value;
}

} // namespace headroom
