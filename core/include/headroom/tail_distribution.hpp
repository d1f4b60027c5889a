#pragma once

#include <array>
#include <string_view>

namespace headroom {

/// Families that latencies are fitted with.
enum class TailFamily {
    normal,      ///< a = mean, b = standard deviation
    lognormal,   ///< a, b = mean and standard deviation of ln x
    weibull,     ///< a = scale, b = shape
    exponential, ///< a = least, b = mean beyond it
    pareto_tail, ///< beyond a threshold: a = scale, b = shape xi (generalised Pareto); below it the samples themselves
};
inline constexpr std::array tail_families{TailFamily::normal, TailFamily::lognormal, TailFamily::weibull,
                                          TailFamily::exponential, TailFamily::pareto_tail};
std::string_view name_of(TailFamily family);

/// A fitted family.
struct TailDistribution {
    TailFamily family = TailFamily::normal;
    double a = 0.0, b = 0.0;
    double a_error = 0.0, b_error = 0.0; ///< standard errors, from the information of the likelihood
    double threshold = 0.0;              ///< of a Pareto tail
    double share_beyond = 1.0;           ///< of samples that lie above it
    double log_likelihood = 0.0;         ///< of the samples in their cells
    double aicc = 0.0;
    double distance = 0.0;   ///< Kolmogorov and Smirnov's, over the whole or over what lies beyond the threshold
    double tail_error = 0.0; ///< largest |fitted/seen - 1| over the quantiles 0.9, 0.99 ... that samples reach

    /// Share that does not exceed x (for a Pareto tail: x at the threshold or above, else 1 - share_beyond at most).
    [[nodiscard]] double share_up_to(double x) const;
    [[nodiscard]] double quantile(double q) const;
};

} // namespace headroom
