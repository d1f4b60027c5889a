#pragma once

#include "headroom/ranks.hpp"

#include <span>
#include <vector>

namespace headroom {

// ---- the slowest of many ------------------------------------------------------------------------------------------

/// Expected maximum of k independent standard normal numbers.
///
///     z_k = integral of x k phi(x) Phi(x)^(k-1) dx
///
/// 0 at k = 1, 1.4236 at 8, 5.3010 at ten million; it grows as sqrt(2 ln k), so a thousand times more ranks cost
/// little more.
/// Holds for:  any k; exact to 1e-12.
/// Assumes:    the numbers are independent and have the same distribution.
/// Source:     [DavidNagaraja2003]
double expected_maximum_normal(Ranks count);

/// Expected maximum of k independent exponential waits, in units of their mean.
///
///     H_k = 1 + 1/2 + ... + 1/k
///
/// Holds for:  any k.
/// Assumes:    independent waits without memory: the tail of interruptions, not of steady work.
/// Source:     [DavidNagaraja2003]
double expected_maximum_exponential(Ranks count);

/// Probability that at least one of k is slow when each is with probability p.
///
///     P = 1 - (1-p)^k
///
/// One in a hundred is slow: with a hundred ranks, 63 % of the steps wait for one.
/// Holds for:  0 <= p <= 1, any k; keeps its digits for p far below 1e-16.
/// Assumes:    ranks are slow independently of one another.
/// Errors:     InputError{usage} when p is not a share.
/// Source:     [DeanBarroso2013]
double probability_any_slow(double probability, Ranks count);

/// Time of the slowest of k over the mean time, for times that vary around it.
///
///     1 + spread z_k
///
/// `spread` is the coefficient of variation: standard deviation over mean, of one rank's time from step to step.
/// Holds for:  spread below one third, where a normal time is almost never negative.
/// Assumes:    normal, independent times; every step waits for the slowest.
/// Errors:     InputError{usage} when the spread is negative or not finite.
/// Source:     [DavidNagaraja2003]
double slowest_over_mean(double spread, Ranks count);

// ---- imbalance of work --------------------------------------------------------------------------------------------

/// The largest of the ranks' amounts of work over their mean: by how much a step exceeds an even split.
///
///     max(w) / mean(w)
///
/// 1 when all are equal, the number of ranks when one has everything.
/// Holds for:  any amounts that are not negative, in any unit.
/// Assumes:    time is proportional to work; every step waits for the rank with most.
/// Errors:     InputError{usage} when there is none, one is negative or not finite, or all are zero.
/// Source:     [DeRose2007]
double largest_over_mean(std::span<double const> work);

/// Expected largest over mean when each of k ranks sums n sequences of varying length.
///
///     1 + spread / sqrt(n) z_k,   at most k
///
/// `spread` is the coefficient of variation of one sequence's work. The work of attention grows with the square of
/// the length: its spread is that of the squares.
/// Holds for:  n large enough for a sum to be normal: about 10 for lengths that do not span decades.
/// Assumes:    sequences are drawn independently and not sorted, packed or balanced over the ranks.
/// Errors:     InputError{usage} when the spread is negative or not finite, or n is below 1.
/// Source:     [DavidNagaraja2003]
double expected_imbalance(double spread, double sequences_per_rank, Ranks ranks);

/// Linear between the two nearest values; zero of nothing.
double quantile(std::vector<double> values, double share);

/// A value that counts with a weight.
struct WeightedValue {
    double value, weight;
};
/// The least value at or below which `share` of the weight lies; 0 of no values.
double weighted_quantile(std::vector<WeightedValue> values, double share);

} // namespace headroom
