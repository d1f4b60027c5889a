#include "binomial.hpp"

#include "normal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headroom {
namespace {

constexpr double most_counted = 2e4; ///< standard deviation; beyond it a normal distribution is as good
constexpr double negligible = 1e-17; ///< of a sum

/// x ln(x / mean) + mean - x, without losing digits where both are near.
double deviance(double x, double mean) {
    if (std::abs(x - mean) >= 0.1 * (x + mean)) { return x * std::log(x / mean) + mean - x; }
    double const v = (x - mean) / (x + mean);
    double sum = (x - mean) * v;
    double power = 2.0 * x * v;
    for (int term = 3;; term += 2) {
        power *= v * v;
        double const next = sum + power / term;
        if (next == sum) { return sum; }
        sum = next;
    }
}

/// P(X < k) for k up to the mean: probabilities fall from k - 1 down, each by its ratio to the one above it.
double sum_downwards(std::uint64_t n, double q, std::uint64_t k) {
    double const count = static_cast<double>(n);
    double term = binomial_probability(n, q, k - 1), sum = term;
    for (double at = static_cast<double>(k - 1); at > 0.0 && term > negligible * sum; at -= 1.0) {
        term *= at * (1.0 - q) / ((count - at + 1.0) * q);
        sum += term;
    }
    return sum;
}

} // namespace

double stirling_error(double n) {
    constexpr double stirling_from = 16.0; // from here on four terms of the series are exact
    if (n < stirling_from) {
        return std::lgamma(n + 1.0) - (n + 0.5) * std::log(n) + n - 0.5 * std::log(2.0 * std::numbers::pi);
    }
    double const square = n * n;
    return (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / square) / square) / square) / n;
}

double binomial_probability(std::uint64_t n, double q, std::uint64_t k) {
    double const count = static_cast<double>(n), hits = static_cast<double>(k);
    if (k > n) { return 0.0; }
    if (k == 0) { return std::exp(count * std::log1p(-q)); }
    if (k == n) { return std::exp(count * std::log(q)); }
    double const misses = count - hits;
    double const logarithm = stirling_error(count) - stirling_error(hits) - stirling_error(misses) -
                             deviance(hits, count * q) - deviance(misses, count * (1.0 - q));
    return std::exp(logarithm) * std::sqrt(count / (2.0 * std::numbers::pi * hits * misses));
}

double binomial_below(std::uint64_t n, double q, std::uint64_t k) {
    if (k == 0) { return 0.0; }
    if (k > n) { return 1.0; }
    double const mean = static_cast<double>(n) * q, deviation = std::sqrt(mean * (1.0 - q));
    double const hits = static_cast<double>(k);
    if (deviation > most_counted) { return normal_beyond((mean - hits + 0.5) / deviation); }
    if (hits <= mean) { return std::min(1.0, sum_downwards(n, q, k)); }
    return std::max(0.0, 1.0 - sum_downwards(n, 1.0 - q, n - k + 1)); // what fails instead: at most n - k do
}

std::uint64_t rank_below_quantile(std::uint64_t n, double q, double share) {
    double const mean = static_cast<double>(n) * q, deviation = std::sqrt(mean * (1.0 - q));
    double const guess = std::clamp(mean + 0.5 - normal_exceeded_by(share) * deviation, 0.0, static_cast<double>(n));
    auto rank = static_cast<std::uint64_t>(guess);
    if (deviation > most_counted) { return rank; }
    double below = binomial_below(n, q, rank);
    while (rank > 0 && below > share) {
        --rank;
        below = binomial_below(n, q, rank);
    }
    for (; rank < n; ++rank) {
        below += binomial_probability(n, q, rank);
        if (below > share) { break; }
    }
    return rank;
}

QuantileRanks ranks_around_quantile(std::uint64_t n, double q, double coverage) {
    double const missed = 0.5 * (1.0 - coverage);
    std::uint64_t const low = rank_below_quantile(n, q, missed);
    std::uint64_t const above = rank_below_quantile(n, 1.0 - q, missed); // as many from the greatest
    double const covered = 1.0 - binomial_below(n, q, low) - binomial_below(n, 1.0 - q, above);
    return {.low = low, .high = n + 1 - above, .coverage = std::max(0.0, covered)};
}

} // namespace headroom
