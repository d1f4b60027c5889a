#pragma once

#include "headroom/fit/communication_fit.hpp"

#include <span>
#include <vector>

namespace headroom::fit {

/// One number pooled from several sources, with the scatter between them.
struct Pooled {
    Fitted value;                ///< with its 90 % interval
    double between = 0.0;        ///< standard deviation between sources, apart from their own errors, of ln(value)
    double heterogeneity = 0.0;  ///< share of the scatter that the sources' own errors do not explain: I^2, 0 to 1
    double ratio = 1.0;          ///< of the largest to the smallest
    std::vector<double> weights; ///< one a source, of sum 1
};

/// Joins measurements of one positive number by the random effects of DerSimonian and Laird, on its logarithm.
///
///     s_i = ln(high_i / low_i) / (2 z)            z the normal quantile of 95 %: of each source alone
///     Q = sum_i (y_i - y)^2 / s_i^2               about the mean y of weights 1 / s_i^2, y_i = ln value_i
///     t^2 = max(0, (Q - (k - 1)) / (S1 - S2 / S1)),   Sj = sum_i s_i^-2j
///     value = exp(sum_i w_i y_i / sum_i w_i),     w_i = 1 / (s_i^2 + t^2)
///     I^2 = max(0, (Q - (k - 1)) / Q)
///
/// The interval is the normal one where the sources agree (t = 0); where they do not it is Student's with k - 1 degrees of
/// freedom on the scatter of Hartung and Knapp, and never narrower: how far sources differ is estimated from k of them,
/// which is worth little where k is 2 or 3. Of made-up sources the interval holds the truth in 90 % where they agree, in 85 %
/// and more of three and more that do not, and in 77 % of two whose spread is as large as their own errors.
/// Holds for:  numbers above zero. One source stays as it is. An interval narrower than 0.1 % counts as 0.1 %.
/// Assumes:    sources are independent; their errors are shares of the value.
/// Errors:     InputError{insufficient} without sources; InputError{usage} where a value or an end is not above zero.
/// Source:     [DerSimonianLaird1986], [HartungKnapp2001], [HigginsThompson2002]
Pooled pool(std::span<Fitted const> sources);

} // namespace headroom::fit
