#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace headroom {

/// What repetitions of one measurement say, without assuming that their errors are normal: times have a hard floor and
/// a long tail.
struct SampleSummary {
    std::size_t count = 0;
    double least = 0.0, most = 0.0, mean = 0.0;
    double median = 0.0;
    double low = 0.0, high = 0.0; ///< of the median: order statistics, see `summarize`
    double coverage = 0.0;        ///< of that interval; below what was asked where there are too few samples
    double spread = 0.0;          ///< 1.4826 times the median deviation from the median, over the median
};

/// The median with an interval that holds for any distribution.
///
///     [x_(l), x_(n+1-l)],  coverage = 1 - 2 P(Binomial(n, 1/2) < l),  l the largest that keeps `coverage`
///
/// With fewer than six samples no such interval covers 95 %: it is then all of them, and `coverage` says how much.
/// Assumes:    samples are independent; `find_drift` tells where they are not.
/// Errors:     InputError{insufficient} without samples; InputError{usage} where one is not finite.
/// Source:     [DavidNagaraja2003]
SampleSummary summarize(std::span<double const> samples, double coverage = 0.95);

/// Whether values rise or fall with their order: clocks that warm up, machines that get busy.
struct Drift {
    double change = 0.0;      ///< from the first to the last, over the median: Theil and Sen's slope times (n - 1)
    double probability = 1.0; ///< of so much order by chance: Mann and Kendall's test, two-sided
};
/// Nothing where there are fewer than eight samples.
std::optional<Drift> find_drift(std::span<double const> samples);

/// Two sets of samples of the same thing.
struct SampleComparison {
    double shift = 0.0;           ///< median of all differences second - first (Hodges and Lehmann)
    double low = 0.0, high = 0.0; ///< its interval of 95 %
    double probability = 1.0;     ///< of ranks so far apart if both were the same: Mann and Whitney, two-sided
    double relative = 0.0;        ///< shift over the first median
};
/// Errors:     InputError{insufficient} where a side has fewer than four samples.
SampleComparison compare_samples(std::span<double const> first, std::span<double const> second);

} // namespace headroom
