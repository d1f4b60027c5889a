#pragma once

#include <cstdint>

namespace headroom {

/// ln n! less Stirling's formula for it, (n + 1/2) ln n - n + ln(2 pi) / 2, to the last digit for n above 0.
/// Source: [Loader2000]
double stirling_error(double n);

/// P(X = k) of a binomial X: n trials, each a success with probability q, to 13 digits for any n.
/// Source: [Loader2000]
double binomial_probability(std::uint64_t n, double q, std::uint64_t k);

/// P(X < k), to a relative 1e-10 where that is small; by a normal distribution, which is then as good to 1e-4 of itself,
/// where X varies by more than 20000.
double binomial_below(std::uint64_t n, double q, std::uint64_t k);

/// The largest rank l with P(X < l) <= `share`: below the quantile q lies x_(l) all but so often. 0 where none is.
std::uint64_t rank_below_quantile(std::uint64_t n, double q, double share);

/// Order statistics on both sides of a quantile, by ranks from 1, and how often it lies between them.
struct QuantileRanks {
    std::uint64_t low = 0;  ///< 0: none is far enough below
    std::uint64_t high = 0; ///< n + 1: none is far enough above
    double coverage = 0.0;  ///< 1 - P(X < low) - P(X >= high); of what is on one side alone where an end is missing
};

/// The largest rank with P(X < low) <= (1 - coverage) / 2 and the smallest with P(X >= high) <= (1 - coverage) / 2.
/// Source: [DavidNagaraja2003]
QuantileRanks ranks_around_quantile(std::uint64_t n, double q, double coverage);

} // namespace headroom
