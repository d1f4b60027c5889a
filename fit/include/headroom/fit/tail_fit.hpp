#pragma once

#include "headroom/latency_histogram.hpp"
#include "headroom/tail_distribution.hpp"

#include <optional>
#include <vector>

namespace headroom::fit {

/// A family with its coefficients and how well it does.
struct TailFit {
    TailDistribution distribution;
    double a_error = 0.0, b_error = 0.0; ///< standard errors, from the information of the likelihood
    double log_likelihood = 0.0;         ///< of the samples in their cells
    double aicc = 0.0;                   ///< over all samples; of a Pareto tail over those beyond its threshold
    double distance = 0.0;   ///< Kolmogorov and Smirnov's, over the whole or over what lies beyond the threshold
    double tail_error = 0.0; ///< largest |fitted / seen - 1| over the quantiles 0.9, 0.99 ... with 10 samples beyond
};

/// The families over all samples, each fitted by maximum likelihood to the counts in cells, best AICc first:
///
///     ln L = sum over cells of n_c ln(F(high) - F(low))
///
/// Those that have no density at zero (lognormal, Weibull) are left out where a sample is zero. The least value of an
/// exponential is the least sample less what it exceeds it by on average, b/n.
/// Assumes:    samples are independent; of n that are like their neighbours the errors are too small.
/// Errors:     InputError{insufficient} below 20 samples or where all are in one cell.
/// Source:     [Burridge1981] (concave in 1/b and a/b: one maximum), [HurvichTsai1989]
std::vector<TailFit> fit_tails(LatencyHistogram const& samples);

/// The generalised Pareto tail beyond the lowest threshold from which on it fits (Anderson and Darling's test at ordered
/// thresholds, false discoveries held at 10 %); nothing where no threshold that leaves 50 samples beyond it does.
/// Errors:     InputError{insufficient} where the histogram is empty.
/// Source:     [BaderYanZhang2018], [ChoulakianStephens2001], [Grimshaw1993]
std::optional<TailFit> fit_pareto_tail(LatencyHistogram const& samples);

} // namespace headroom::fit
