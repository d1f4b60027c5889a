#pragma once

#include "headroom/latency_digest.hpp"
#include "headroom/latency_histogram.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

// ---- percentiles --------------------------------------------------------------------------------------------------

/// A quantile with an interval that holds for any distribution.
struct QuantileEstimate {
    double q = 0.5;
    double value = 0.0;
    std::optional<double> low, high;  ///< empty where no order statistic is far enough out: too few samples
    double coverage = 0.0;            ///< of that interval; 0 where an end is missing
    std::uint64_t samples_beyond = 0; ///< that lie above: what the estimate rests on
};

/// The quantile and the order statistics on both sides of it that cover it.
///
///     [x_(l), x_(u)],  l the largest with P(Binomial(n, q) < l) <= (1 - c)/2,  u the smallest with P(... >= u) <= (1 - c)/2
///
/// widened by the histogram's own error. Samples that are like their neighbours say less than so many independent ones:
/// `worth` of n samples are counted as n worth (1: independent).
/// Assumes:    the samples are of one distribution.
/// Errors:     InputError{insufficient} without samples; InputError{usage} for shares outside (0, 1).
/// Source:     [DavidNagaraja2003]
QuantileEstimate quantile_estimate(LatencyHistogram const& samples, double q, double coverage = 0.95,
                                   double worth = 1.0);

/// Samples for which the interval of a quantile has two ends: the least n with q^n <= (1 - c)/2 (and the same below).
std::uint64_t samples_for_quantile(double q, double coverage = 0.95);

/// What part of n samples is worth as independent ones: n / (1 + 2 sum of correlations), from the means of blocks of
/// neighbours; 1 where they have no order or are too few.
/// Source: [Geyer1992], [FishmanYarberry1997]
double independent_share(std::span<DigestBlock const> blocks, double variance);

/// The same for the tail: from how often samples exceed the 99th percentile. Slow ones that come together, as in a stall,
/// say less of it than as many apart, whatever the mean does.
/// Source: [FishmanYarberry1997], [Geyer1992]
double independent_tail_share(std::span<DigestBlock const> blocks);

// ---- coordinated omission -----------------------------------------------------------------------------------------

/// What a load generator left out that waited for each answer before it sent the next request.
struct OmissionFinding {
    bool suspected = false;
    double interval = 0.0;      ///< between requests of a connection, as was meant: given, or the median gap times them
    double connections = 1.0;   ///< that wait for answers; 1 where neither times nor gaps say otherwise
    std::uint64_t affected = 0; ///< samples longer than the interval, after which nothing was sent in time
    double missing = 0.0;       ///< requests that were not sent
    std::string why;            ///< in words: what gave it away, or why nothing can be said
};

/// Looks for requests that were sent late because an answer was: gaps that grow with the latency before them.
OmissionFinding find_omission(LatencyDigest const& samples, std::optional<double> interval = {});

/// Adds the requests that would have been sent while one took longer than the interval between requests:
///
///     x, and x - i, x - 2i, ... down to i, for every x > i
///
/// Closed form over cells: constant memory, whatever x / i.
/// Assumes:    requests were meant to be sent every `interval`, and those left out would have waited for the same stall.
/// Errors:     InputError{usage} where the interval is not above zero, or so small that more than 2^53 would be added.
/// Source:     [Tene2013]
LatencyHistogram corrected_for_omission(LatencyHistogram const& samples, double interval);

// ---- change over time ---------------------------------------------------------------------------------------------

/// Where the level of the samples changed for good.
struct ChangePoint {
    std::size_t block = 0;            ///< the first of the new level
    double at = 0.0;                  ///< its start: seconds, or a number of samples
    double before = 0.0, after = 0.0; ///< medians of the blocks' medians on both sides, up to the next change
    double probability = 1.0;         ///< of so clear a change by chance, after correction for all that were looked at
};

/// Changes of level, the clearest first looked for, then on both sides of it (binary segmentation), each tested by ranks
/// (Pettitt) over blocks that are merged until neighbours are independent.
/// Source: [Pettitt1979], [Vostrikova1981]
std::vector<ChangePoint> find_changes(std::span<DigestBlock const> blocks, double significance = 0.01);

// ---- two runs -----------------------------------------------------------------------------------------------------

/// One quantile of two runs.
struct QuantileChange {
    double q = 0.5;
    double first = 0.0, second = 0.0;
    double ratio = 1.0;           ///< second over first
    double low = 1.0, high = 1.0; ///< of the ratio
    double probability = 1.0;     ///< of so great a difference by chance, corrected for all quantiles asked (Holm)
};

/// Two runs compared where it hurts: quantile by quantile, and as whole distributions.
struct TailComparison {
    std::vector<QuantileChange> quantiles; ///< only those that both runs have samples for
    double distance = 0.0;                 ///< Anderson and Darling's, normalised: weighs the tails
    double probability = 1.0;              ///< of it by chance
    double larger = 0.5;                   ///< P(second > first) + P(equal)/2
};

/// Compares two runs by their histograms.
/// Errors:     InputError{insufficient} where a run has fewer than 20 samples.
/// Source:     [ScholzStephens1987], [Holm1979], [DavidNagaraja2003]
TailComparison compare_tails(LatencyHistogram const& first, LatencyHistogram const& second,
                             std::span<double const> quantiles, double first_worth = 1.0, double second_worth = 1.0);

} // namespace headroom
