#pragma once

#include "headroom/serving/latency_digest.hpp"
#include "headroom/serving/latency_histogram.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::serving {

// ---- percentiles --------------------------------------------------------------------------------------------------

/// A quantile with an interval that holds for any distribution.
struct QuantileEstimate {
    double q = 0.5;
    double value = 0.0;
    std::optional<double> low, high;  ///< empty where no order statistic is far enough out: too few samples
    double coverage = 0.0;            ///< of that interval; 0 where an end is missing
    std::uint64_t samples_beyond = 0; ///< ranked above it, (1 - q) n: what the estimate rests on
};

/// The quantile and the order statistics on both sides of it that cover it.
///
///     [x_(l), x_(u)],  l the largest with P(Binomial(n, q) < l) <= (1 - c)/2,  u the smallest with P(... >= u) <= (1 - c)/2
///
/// widened by the histogram's own error. Samples that are like their neighbours say less than so many independent ones:
/// with a `worth` w, l and u are those of n w samples, and stand among all n at the same shares, (l - 1) / w from an end.
/// Holds for:  any distribution, also where values are equal: it covers at least c.
/// Assumes:    the samples are of one distribution.
/// Errors:     InputError{insufficient} without samples; InputError{usage} for q and c outside (0, 1), w outside (0, 1].
/// Source:     [DavidNagaraja2003]
QuantileEstimate quantile_estimate(LatencyHistogram const& samples, double q, double coverage = 0.95,
                                   double worth = 1.0);

/// Samples for which the interval of a quantile has two ends: the least n with q^n <= (1 - c)/2 and (1 - q)^n <= (1 - c)/2.
/// Errors:     InputError{usage} for q and c outside (0, 1).
/// Source:     [DavidNagaraja2003]
std::uint64_t samples_for_quantile(double q, double coverage = 0.95);

/// Share of the samples that as many independent ones would need to determine the mean as well, from m neighbours in
/// each block:
///
///     1 / (m s^2 / variance (1 + 2 sum c_k)),   s the standard deviation of the blocks' means, c_k the correlation of a
///     block's mean with that of the k-th after it, in pairs of k until a pair adds up to nothing;   at most 1
///
/// 1 below 16 blocks. Independent samples come out at 0.9 and more, as their likeness is not known to be nothing.
/// Assumes:    one level throughout: a change of it counts as likeness. See `find_changes`.
/// Source:     [Geyer1992], [FishmanYarberry1997]
double independent_share(std::span<DigestBlock const> blocks, double variance);

/// Independent share for the tail: from the numbers of samples above the 99th percentile. Slow samples that come
/// together, as in a stall, determine the tail less than as many apart, whatever the mean does.
/// Source:     [FishmanYarberry1997], [Geyer1992]
double independent_tail_share(std::span<DigestBlock const> blocks);

/// Share of the samples that independent ones would need for the same certainty.
struct SampleWorth {
    double body = 1.0; ///< as `independent_share` says
    double tail = 1.0; ///< as `independent_tail_share` says
    /// Where the quantile q is asked for: as the tail says from the 99th percentile on, else the lesser of both.
    /// Holds for:  neighbours that are like each other over less than a hundredth of the samples: intervals of
    ///             autoregressive logarithms then cover what they state within 3 %.
    [[nodiscard]] double at(double q) const;
};

/// Worth of the samples of a digest; 1 where they have no order.
SampleWorth worth_of(LatencyDigest const& samples);

/// Worth of two runs put together, as variances of means add up where neither run depends on the other:
///
///     (n + m) / (n / v + m / w)
///
/// A run without samples changes nothing.
SampleWorth joined_worth(SampleWorth first, std::uint64_t first_count, SampleWorth second, std::uint64_t second_count);

// ---- coordinated omission -----------------------------------------------------------------------------------------

/// Evidence for requests that were not sent, or the reason why none is seen.
enum class OmissionSign {
    no_sample,
    no_interval,         ///< neither times of requests nor an interval
    none_longer,         ///< than the interval between requests
    longer,              ///< samples are, and no times tell whether requests waited for them
    sent_after_answer,   ///< the next request, when a longer answer was back
    farther_apart,       ///< requests, while answers took longer, as by connections that wait
    none_longer_of_many, ///< than the interval between requests of one connection
    sent_on_time,        ///< while answers were missing, and as often while those took long
};

/// Requests that a load generator did not send because it waited for each answer before it sent the next request.
struct OmissionFinding {
    bool suspected = false;
    double interval = 0.0;      ///< between requests of a connection, as was meant: given, or the median gap times them
    double connections = 1.0;   ///< that wait for answers; 1 where neither times nor gaps say otherwise
    std::uint64_t affected = 0; ///< samples longer than the interval, after which nothing was sent in time
    double missing = 0.0;       ///< requests that were not sent; 0 where nothing is suspected
    OmissionSign sign = OmissionSign::no_sample;
    std::string why = {}; ///< the sign in words; left to whoever shows it
};

/// Looks for requests that were sent late because an answer was. It is suspected where samples are longer than the
/// interval, and
///
///     one connection      at least half of those were followed by a request soon after their answer, and by none before
///     c of them           gaps grow with latencies from block to block, by 1/c (Little): see `interval`
///     no times            an interval is stated: nothing says that requests did not wait for answers
///
/// Requests that are sent evenly or at random, whatever answers do, pass neither of the first two. Without times and
/// without an interval `why` states that nothing is known.
/// Assumes:    times are those at which requests were sent, of all connections, in order.
/// Errors:     InputError{usage} where the interval is not above zero.
/// Source:     [Tene2013], [Kleinrock1975]
OmissionFinding find_omission(LatencyDigest const& samples, std::optional<double> interval = {});

/// Adds the requests that would have been sent while one took longer than the interval between requests:
///
///     x, and x - i, x - 2i, ... down to i, for every x > i
///
/// Closed form over cells: constant memory, and no more steps for a cell than there are cells below it, whatever x / i.
/// Every x is taken to be the middle of its cell: one that is added is off by half the width of that cell at most.
/// `interval` is that of one connection.
/// Assumes:    requests were meant to be sent every `interval`, and those left out would have waited for the same stall.
/// Errors:     InputError{usage} where the interval is not above zero, or so small that more than 2^53 would be added.
/// Source:     [Tene2013]
LatencyHistogram corrected_for_omission(LatencyHistogram const& samples, double interval);

// ---- change over time ---------------------------------------------------------------------------------------------

/// Where the level of the samples changed for good.
struct ChangePoint {
    std::size_t block = 0;            ///< the first of the new level
    double at = 0.0;                  ///< its start: seconds, or a number of samples
    double before = 0.0, after = 0.0; ///< means of the samples on both sides, up to the next change
    double probability = 1.0;         ///< of so clear a change by chance, after correction for all that were looked at
};

/// Changes of the level of blocks' means: the clearest first, then on both sides of it (binary segmentation), up to
/// twelve. Of those the most are stated that all pass Pettitt's test between their neighbours:
///
///     P(sup |bridge| > max_t |sum_{i<=t} (r_i - mean r)| / sqrt(T sum (r_i - mean r)^2)) k <= significance,
///     r ranks of blocks, k the number of changes, T = 1 + 2 sum c_k how many blocks in a row say as much as one
///
/// T is taken from ranks within each level, so that changes do not count as likeness of neighbours; a level lasts 10 T
/// blocks on average. A change stands where both levels fit their blocks best.
/// Holds for:  false alarms as often as `significance` says where neighbours do not depend on each other, up to twice and
///             a half as often for correlations of 0.9 and more, and eight times for the waits of 500 requests at a
///             server with a load of 0.8, which say as much as ten that do not.
/// Assumes:    blocks on a level are of one distribution; a slow drift comes out as stairs.
/// Errors:     InputError{usage} for a significance outside (0, 1).
/// Source:     [Pettitt1979], [Vostrikova1981], [Geyer1992]
std::vector<ChangePoint> find_changes(std::span<DigestBlock const> blocks, double significance = 0.01);

// ---- two runs -----------------------------------------------------------------------------------------------------

/// One quantile of two runs.
struct QuantileChange {
    double q = 0.5;
    double first = 0.0, second = 0.0;
    double ratio = 1.0;           ///< second over first
    double low = 1.0, high = 1.0; ///< of the ratio, covering at least 95 %; not finite against a quantile of 0
    double probability = 1.0;     ///< of so great a difference by chance, corrected for all quantiles asked (Holm)
};

/// Two runs compared where it hurts: quantile by quantile, and as whole distributions.
struct TailComparison {
    std::vector<QuantileChange> quantiles; ///< only those that both runs have samples for
    double distance = 0.0;                 ///< Anderson and Darling's A^2, normalised: (A^2 - 1) / its deviation
    double probability = 1.0;              ///< of it by chance
    double larger = 0.5;                   ///< P(second > first) + P(equal)/2
};

/// Compares two runs by their histograms. The interval of a ratio joins those of both quantiles as independent errors join,
///
///     ln low  = ln(y/x) - sqrt((ln y/y_low)^2 + (ln x_high/x)^2),   ln high = ln(y/x) + sqrt((ln y_high/y)^2 + (ln x/x_low)^2)
///
/// and its probability is that for which such an interval just reaches 1 (1e-15 at least). A^2 is Scholz and Stephens' for
/// equal values in cells, over (1/(m v) + 1/(n w)) / (1/m + 1/n) for samples worth v and w at the median; its probability is
/// that of the limit, sum_j Z_j^2 / (j (j + 1)), taken as far from its mean in deviations.
/// Assumes:    the runs do not depend on each other.
/// Errors:     InputError{insufficient} where a run has fewer than 20 samples; as `quantile_estimate`.
/// Source:     [ScholzStephens1987], [AndersonDarling1952], [ZouDonner2008], [Holm1979], [DavidNagaraja2003]
TailComparison compare_tails(LatencyHistogram const& first_samples, LatencyHistogram const& second_samples,
                             std::span<double const> quantiles, SampleWorth first_worth = {},
                             SampleWorth second_worth = {});

} // namespace headroom::serving
