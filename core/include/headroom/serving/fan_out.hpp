#pragma once

#include "headroom/ranks.hpp"
#include "headroom/serving/latency_histogram.hpp"
#include "headroom/serving/tail_distribution.hpp"

#include <optional>
#include <span>
#include <vector>

namespace headroom::serving {

// ---- the slowest of K ---------------------------------------------------------------------------------------------

/// A request, or a step, that waits for all of K.
struct FanOut {
    Ranks workers;
    double probability_slow = 0.0;                      ///< 1 - (1-p)^K: at least one exceeds `slow`
    double p50 = 0.0, p90 = 0.0, p99 = 0.0, p999 = 0.0; ///< of the slowest
    double mean = 0.0;                                  ///< of the slowest; infinite where the tail has none
    double slowdown = 1.0;                              ///< mean of the slowest over mean of one
    double beyond_samples = 0.0;                        ///< share of that mean, and
    bool p99_beyond_samples = false; ///< whether that quantile, rests on more than the samples show: q^(1/K) > 1 - 1/n
};

/// The slowest of K whose times are drawn from the samples with replacement:
///
///     F_K(x) = F(x)^K,   quantile_K(q) = quantile(q^(1/K)),   mean = sum of cells x (F(x)^K - F(x-)^K)
///
/// Assumes:    workers are independent and alike. What lies beyond the greatest sample is not known to it: see
///             `beyond_samples`, and `fan_out` with a distribution.
/// Errors:     InputError{insufficient} without samples; InputError{usage} where `slow` is not a number.
/// Source:     [DeanBarroso2013], [DavidNagaraja2003]
FanOut fan_out(LatencyHistogram const& samples, Ranks workers, double slow);
/// Slowest of `workers` draws from a distribution over all x, by quadrature; nothing lies beyond it.
/// Errors:     InputError{usage} for a Pareto tail, which knows nothing below its threshold, or coefficients that are none.
FanOut fan_out(TailDistribution const& distribution, Ranks workers, double slow);
/// The samples up to the threshold of a Pareto tail, and the tail beyond it; any other family as without samples. What
/// lies beyond the samples is flagged as it is without a tail: now it is extrapolated instead of left out.
FanOut fan_out(LatencyHistogram const& samples, TailDistribution const& tail, Ranks workers, double slow);

/// Mean of the greatest of K draws from a distribution over all x.
///
///     integral of x dF^K  =  least + integral of 1 - F(x)^K from the least x on
///
/// Infinite where the tail has no mean. Of a Pareto tail: of draws that all lie beyond its threshold.
/// Holds for:  any K; to 1e-10 of itself, for the shape of a Pareto tail up to 0.95 and a lognormal b up to 15.
/// Source:     [DavidNagaraja2003]
double expected_maximum(TailDistribution const& distribution, Ranks workers);
/// The mean of the greatest of K that are drawn without replacement from exactly these n values, by order statistics:
///
///     sum_i x_(i) C(i-1, K-1) / C(n, K)
///
/// Errors:     InputError{insufficient} where K > n.
/// Source:     [DavidNagaraja2003]
double expected_maximum(LatencyHistogram const& samples, Ranks workers);

/// Quantile that each worker must keep so that a share q of all fan-outs does: q^(1/K).
/// Errors: InputError{usage} for q outside 0 to 1.
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

/// The (K-b)-th order statistic of K, from the samples:
///
///     P(X_(K-b) <= x) = P(Binomial(K, 1 - F(x)) <= b)      a regularised incomplete beta function of F
///
/// Assumes:    workers are independent and alike, and a step waits for nothing but them.
/// Errors:     InputError{insufficient} without samples; InputError{usage} where no worker is left.
/// Source:     [Chen2016] (backup workers), [DavidNagaraja2003]
BackupWorkers backup_workers(LatencyHistogram const& samples, Ranks workers, int backups);

/// The number of backups with the most useful work per second, of K workers in all. Where times spread widely that may
/// be more than half of them: work that comes sooner is counted, not what more of it at once is worth.
///
/// Up to 64 every number is looked at; beyond, steps of 5 % and then every number next to the best of them.
/// Source: [Chen2016]
BackupWorkers best_backup_workers(LatencyHistogram const& samples, Ranks workers);

// ---- a second copy ------------------------------------------------------------------------------------------------

enum class SecondCopy {
    hedged, ///< sent when the first has not come back after a delay; the slower answer is thrown away
    tied,   ///< both queue and know of each other: the one that starts cancels the other
};

/// Effect of a second copy of a request on latencies and work.
struct Hedge {
    SecondCopy kind = SecondCopy::hedged;
    double delay = 0.0; ///< before the second copy
    double delay_quantile = 0.0;
    double extra_load = 0.0;           ///< share of requests that are sent twice: P(X > delay); all where tied
    double extra_work = 0.0;           ///< share of busy time added where the loser runs to its end
    double extra_work_cancelled = 0.0; ///< where the loser is stopped when the first answer comes; may be below zero
    double mean = 0.0, p50 = 0.0, p99 = 0.0, p999 = 0.0;
};

/// First of X and delay + X', both drawn from the samples:
///
///     P(min > x) = P(X > x) P(X' > x - delay)
///
/// Assumes:    the second copy goes to another server whose slowness has nothing to do with the first's, the time is spent
///             serving (for the extra work), and the extra load makes no one slower: see `hedge_load` for what it costs.
/// Errors:     InputError{usage} where the delay is negative or not finite; InputError{insufficient} without samples.
/// Source:     [DeanBarroso2013]
Hedge hedged_request(LatencyHistogram const& samples, double delay);

/// Delays at quantiles of the samples (0: at once); the least `judged_by` quantile first, of equals the least extra load.
/// Errors: InputError{usage} for quantiles outside 0 to 1.
std::vector<Hedge> hedging_choices(LatencyHistogram const& samples, std::span<double const> delay_quantiles,
                                   double judged_by = 0.99);

/// Two copies queue at two servers, the second one `delay` later; the first that starts cancels the other, which learns of
/// it `message` seconds later. Both run where they start within that time.
///
///     start = min(W, delay + W'),   latency = start + S,   extra work = P(|W - delay - W'| < message)
///
/// Where both run the latency is still counted as that of the first to start: an upper bound.
/// Assumes:    the two queues are independent, a wait says nothing about the service after it, and queues are as long as
///             before: what is cancelled takes no one's time.
/// Errors:     InputError{usage} where a time is negative or not finite; InputError{insufficient} without samples.
/// Source:     [DeanBarroso2013]
Hedge tied_request(LatencyHistogram const& waits, LatencyHistogram const& services, double delay = 0.0,
                   double message = 0.0);
/// Tied requests where only latencies are known: the excess over `service`, by default the least latency, is taken for
/// waiting. An upper bound of the gain: all variation is taken to be of queues.
Hedge tied_request(LatencyHistogram const& latencies, std::optional<double> service = {});

/// Load of the servers with the second copies.
struct HedgeLoad {
    double utilization = 0.0; ///< with the extra copies: rho (1 + extra work)
    bool stable = true;       ///< below 1
    double wait_growth = 1.0; ///< mean wait over that without copies; infinite where not stable
};

/// The utilization that second copies lead to, and how much longer all wait for it, in an M/M/c queue:
///
///     rho' = rho (1 + extra work),   growth = W_q(rho') / W_q(rho)
///
/// Assumes:    copies are spread over servers as all else is, and run to their end.
/// Errors:     InputError{usage} where the utilization is not in [0, 1) or there is no server.
/// Source:     [Kleinrock1975]
HedgeLoad hedge_load(Hedge const& hedge, double utilization, int servers = 1);

} // namespace headroom::serving
