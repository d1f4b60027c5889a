#pragma once

#include <string_view>

namespace headroom::serving {

/// Families that latencies are fitted with.
enum class TailFamily {
    normal,      ///< a = mean, b = standard deviation
    lognormal,   ///< a, b = mean and standard deviation of ln x
    weibull,     ///< a = scale, b = shape
    exponential, ///< a = least, b = mean beyond it
    pareto_tail, ///< beyond a threshold: a = scale, b = shape xi (generalised Pareto); below it the samples themselves
};
std::string_view name_of(TailFamily family);

/// A family with its coefficients: how latencies go on where samples end.
///
///     normal        P(X > x) = Phi(-(x - a) / b)
///     lognormal     P(X > x) = Phi(-(ln x - a) / b)
///     weibull       P(X > x) = exp(-(x / a)^b)
///     exponential   P(X > x) = exp(-(x - a) / b)
///     pareto tail   P(X > x) = share_beyond (1 + b (x - threshold) / a)^(-1/b),  exp(...) at b = 0
///
/// Holds for:  b above zero (any b of a Pareto tail), a above zero for the Weibull and Pareto families.
/// Source:     [DavidNagaraja2003], [Grimshaw1993] (Pareto)
struct TailDistribution {
    TailFamily family = TailFamily::normal;
    double a = 0.0, b = 0.0;
    double threshold = 0.0;    ///< of a Pareto tail
    double share_beyond = 1.0; ///< of samples that lie above it

    /// P(X > x), to the last digit where it is small.
    [[nodiscard]] double share_above(double x) const;
    /// The x with P(X <= x) = q; of a Pareto tail the threshold where q is below 1 - share_beyond.
    /// Errors: InputError{usage} for q outside 0 to 1.
    [[nodiscard]] double quantile(double q) const;
    /// The x with P(X > x) = p: for p far below what 1 - p can hold.
    /// Errors: InputError{usage} for p outside 0 to 1.
    [[nodiscard]] double quantile_above(double p) const;
};

/// A family with its coefficients and how well it does.
struct TailFit {
    TailDistribution distribution;
    double a_error = 0.0, b_error = 0.0; ///< standard errors, from the information of the likelihood
    double log_likelihood = 0.0;         ///< of the samples in their cells
    double aicc = 0.0;                   ///< over all samples; of a Pareto tail over those beyond its threshold
    double distance = 0.0;   ///< Kolmogorov and Smirnov's, over the whole or over what lies beyond the threshold
    double tail_error = 0.0; ///< largest |fitted / seen - 1| over the quantiles 0.9, 0.99 ... with 10 samples beyond
};

} // namespace headroom::serving
