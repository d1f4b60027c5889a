#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace headroom {

/// Summary of repeated measurements. Errors are not assumed to be normal: times have a hard floor and a long tail.
struct SampleSummary {
    std::size_t count = 0;
    double least = 0.0, most = 0.0, mean = 0.0;
    double median = 0.0;
    double low = 0.0, high = 0.0; ///< of the median: order statistics, see `summarize`
    double coverage = 0.0;        ///< of that interval; below what was asked where there are too few samples
    double spread = 0.0; ///< 1.4826 times the median deviation from the median, over the median; not finite at 0
};

/// The median with an interval that holds for any distribution.
///
///     [x_(l), x_(n+1-l)],  coverage = 1 - 2 P(Binomial(n, 1/2) < l),  l the largest that keeps `coverage`
///
/// With fewer than six samples no such interval covers 95 %: it is then all of them, and `coverage` says how much.
/// Assumes:    samples are independent; `find_drift` tells where they are not.
/// Errors:     InputError{insufficient} without samples; InputError{usage} where one is not finite, and for a coverage
///             that is not between 0 and 1.
/// Source:     [DavidNagaraja2003]
SampleSummary summarize(std::span<double const> samples, double coverage = 0.95);

/// Whether values rise or fall with their order: clocks that warm up, machines that get busy.
struct Drift {
    double change = 0.0;      ///< from the first to the last, over the median; not finite where that is 0
    double probability = 1.0; ///< of so much order by chance, two-sided
};

/// Theil and Sen's slope over all samples, and Mann and Kendall's test of order.
///
///     change = (n - 1) median_{i<j} (x_j - x_i) / (j - i) / |median x|
///     S = #{i<j: x_j > x_i} - #{i<j: x_j < x_i},  probability = P(|S'| >= |S|), S' of a random order
///
/// The distribution of S' is counted for up to 60 samples that all differ; else it is the normal one with variance
/// (n(n-1)(2n+5) - sum t(t-1)(2t+5)) / 18, t the sizes of groups of equal samples, and a correction for continuity.
/// Returns:    nothing where there are fewer than eight samples.
/// Errors:     InputError{usage} where one is not finite.
/// Source:     [Sen1968] [Kendall1975]
std::optional<Drift> find_drift(std::span<double const> samples);

/// Two sets of samples of the same thing.
struct SampleComparison {
    double shift = 0.0;           ///< median of all differences second - first
    double low = 0.0, high = 0.0; ///< its interval, which covers at least 95 %
    double probability = 1.0;     ///< of ranks so far apart if both were the same, two-sided
    double relative = 0.0;        ///< shift over the first median; not finite where that is 0
};

/// Hodges and Lehmann's shift with its interval, and Mann and Whitney's test (Wilcoxon's of the sum of ranks).
///
///     shift = median {y_j - x_i},  [low, high] = [D_(k), D_(mn+1-k)],  k the largest with P(U < k) <= 2.5 %
///     probability = P(|R' - E R'| >= |R - E R'|), R the sum of the ranks of x among all, R' of a random choice
///
/// The distributions of U and R' are counted for up to 60 samples of both together, that of R' with the ranks that equal
/// samples share; else they are normal, with corrections for equal samples and for continuity.
/// Assumes:    samples are independent; shift and interval also that both sides are the same but for a shift.
/// Errors:     InputError{insufficient} where a side has fewer than four samples; InputError{usage} where one is not
///             finite.
/// Source:     [MannWhitney1947] [HodgesLehmann1963] [Hollander2013]
SampleComparison compare_samples(std::span<double const> first, std::span<double const> second);

/// Ratio of the second sample to the first.
struct SampleRatio {
    double ratio = 1.0;           ///< median of all ratios second / first
    double low = 1.0, high = 1.0; ///< its interval, which covers at least 95 %
};

/// The shift of the logarithms, so that second over first and first over second agree.
/// Errors:     as `compare_samples`; InputError{usage} where a sample is not positive.
/// Source:     [HodgesLehmann1963]
SampleRatio compare_ratio(std::span<double const> first, std::span<double const> second);

/// Probabilities of many tests at once, so that the chance that any of them misleads stays below what each would have
/// alone:
///
///     p'_(i) = max over j <= i of min(1, (n - j + 1) p_(j))
///
/// Holds however the tests depend on each other. In the order in which they were given.
/// Source:     [Holm1979]
std::vector<double> adjusted_for_many(std::span<double const> probabilities);

} // namespace headroom
