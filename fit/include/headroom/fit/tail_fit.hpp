#pragma once

#include "headroom/serving/latency_histogram.hpp"
#include "headroom/serving/tail_distribution.hpp"

#include <optional>
#include <vector>

namespace headroom::fit {

using headroom::serving::TailFit;

/// The families over all samples, each fitted by maximum likelihood to the counts in cells, best AICc first:
///
///     ln L = sum over cells of n_c ln(F(high) - F(low))
///
/// Those that have no density at zero (lognormal, Weibull) are left out where a sample is zero. The least value of an
/// exponential is the least sample less what it exceeds it by on average, b/n.
/// Assumes:    samples are independent; of n that are like their neighbours the errors are too small.
/// Errors:     InputError{insufficient} below 20 samples or where all are in one cell.
/// Source:     [Burridge1981] (concave in 1/b and a/b: one maximum), [HurvichTsai1989]
std::vector<serving::TailFit> fit_tails(serving::LatencyHistogram const& samples);

/// The generalised Pareto tail beyond the lowest threshold from which on it fits (Anderson and Darling's test at ordered
/// thresholds, false discoveries held at 10 %); nothing where no threshold that leaves 50 samples beyond it does.
/// Errors:     InputError{insufficient} where the histogram is empty.
/// Source:     [BaderYanZhang2018], [ChoulakianStephens2001], [Grimshaw1993]
std::optional<serving::TailFit> fit_pareto_tail(serving::LatencyHistogram const& samples);

/// The families, best first, then the Pareto tail where there is one: what `tail_answer` asks for. Errors: as `fit_tails`.
std::vector<serving::TailFit> fit_families_and_tail(serving::LatencyHistogram const& samples);

} // namespace headroom::fit
