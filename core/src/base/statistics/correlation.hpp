#pragma once

#include <cstddef>
#include <span>

namespace headroom {

/// Autocorrelation of `values` around `middle` at distance `lag`; 0 where all are the same.
double correlation(std::span<double const> values, double middle, std::size_t lag);

/// Integrated autocorrelation time: number of successive values that carry as much information as one independent
/// value:
///
///     1 + 2 sum (c_k + lost / n),  c_k the correlation with the k-th value after, in pairs of k until a pair adds up to nothing
///
/// `lost`: of each correlation n values lose as many n-ths as levels were taken from them.
/// Source: [Geyer1992]
double correlated_run(std::span<double const> values, double middle, double lost = 1.0);

} // namespace headroom
