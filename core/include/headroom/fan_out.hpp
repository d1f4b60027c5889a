#pragma once

#include "headroom/latency_histogram.hpp"
#include "headroom/ranks.hpp"
#include "headroom/tail_distribution.hpp"

#include <optional>
#include <span>
#include <vector>

namespace headroom {

// ---- the slowest of K ---------------------------------------------------------------------------------------------

/// A request, or a step, that waits for all of K.
struct FanOut {
    Ranks workers;
    double probability_slow = 0.0;                      ///< 1 - (1-p)^K: at least one exceeds `slow`
    double p50 = 0.0, p90 = 0.0, p99 = 0.0, p999 = 0.0; ///< of the slowest
    double mean = 0.0;                                  ///< of the slowest
    double slowdown = 1.0;                              ///< mean of the slowest over mean of one
    double beyond_samples = 0.0;                        ///< share of that mean, and
    bool p99_beyond_samples = false; ///< whether that quantile, rests on more than the samples show: q^(1/K) > 1 - 1/n
};

/// The slowest of K whose times are drawn from the samples with replacement:
///
///     F_K(x) = F(x)^K,   quantile_K(q) = quantile(q^(1/K)),   mean = sum of cells x (F(x)^K - F(x-)^K)
///
/// Assumes:    workers are independent and alike. What lies beyond the greatest sample is not known to it: see the rows'
///             `beyond_samples`, and `fan_out` with a distribution.
/// Source:     [DeanBarroso2013], [DavidNagaraja2003]
FanOut fan_out(LatencyHistogram const& samples, Ranks workers, double slow);
/// The same for a fitted distribution, by quadrature of 1 - F^K.
FanOut fan_out(TailDistribution const& distribution, Ranks workers, double slow);
/// The mean of the greatest of K that are drawn without replacement from exactly these n values, by order statistics:
///
///     sum_i x_(i) C(i-1, K-1) / C(n, K)
///
/// Errors:     InputError{insufficient} where K > n.
/// Source:     [DavidNagaraja2003]
double expected_maximum(LatencyHistogram const& samples, Ranks workers);

/// Quantile that each worker must keep so that a share q of all fan-outs does: q^(1/K).
double quantile_for_each(double q, Ranks workers);

// ---- backup workers -----------------------------------------------------------------------------------------------

/// A step that goes on when the first K - backups of K have come.
struct BackupWorkers {
    Ranks workers; ///< K, backups among them
    int backups = 0;
    double mean = 0.0, p50 = 0.0, p99 = 0.0; ///< of the time until enough have come
    double slowdown = 1.0;                   ///< over the mean of one
    double useful_per_second = 0.0;          ///< (K - backups) / mean: what is worth most at some number of backups
};

/// The (K-b)-th order statistic of K, from the samples: regularised incomplete beta of F.
/// Source: [Chen2016] (backup workers), [DavidNagaraja2003]
BackupWorkers backup_workers(LatencyHistogram const& samples, Ranks workers, int backups);

// ---- a second copy ------------------------------------------------------------------------------------------------

enum class SecondCopy {
    hedged, ///< sent when the first has not come back after a delay; the slower answer is thrown away
    tied,   ///< both queue at once and know of each other: the one that starts cancels the other
};

/// What a second copy of a request changes.
struct Hedge {
    double delay = 0.0; ///< before the second copy
    double delay_quantile = 0.0;
    double extra_load = 0.0; ///< share of requests that are sent twice, P(X > delay)
    double extra_work = 0.0; ///< share of busy time added, where the loser is not cancelled
    double mean = 0.0, p50 = 0.0, p99 = 0.0, p999 = 0.0;
};

/// First of X and delay + X', both drawn from the samples:
///
///     P(min > x) = P(X > x) P(X' > x - delay)
///
/// Assumes:    the second copy goes to another server whose slowness has nothing to do with the first's, and the extra
///             load makes no one slower: true at low load; see `queue.hpp` for what it costs.
/// Errors:     InputError{usage} where the delay is negative or not finite.
/// Source:     [DeanBarroso2013]
Hedge hedged_request(LatencyHistogram const& samples, double delay);

/// Delays at quantiles, from sending at once to the 99th percentile; the best by the asked quantile first.
std::vector<Hedge> hedging_choices(LatencyHistogram const& samples, std::span<double const> delay_quantiles);

} // namespace headroom
