#include "greatest.hpp"

#include "base/quantity/demand.hpp"

#include "headroom/error.hpp"
#include "headroom/order_statistics.hpp"
#include "headroom/serving/fan_out.hpp"

#include <cmath>
#include <limits>

namespace headroom::serving {

namespace {

/// ln(1 - p) for p = share / (1 + e^y), without loss for the whole share, where 1 - p goes to zero.
double log_below(double y, double share) {
    double const p = share / (1.0 + std::exp(y));
    if (share < 1.0 || p < 0.5) { return std::log1p(-p); }
    return y > 0.0 ? -std::log1p(std::exp(-y)) : y - std::log1p(std::exp(y));
}

} // namespace

void demand_distribution(TailDistribution const& distribution) {
    constexpr char const* hint = "take the coefficients of a fit";
    auto const finite = [&](double value, char const* where) {
        if (!std::isfinite(value)) { refuse(where, "not finite", {}, hint); }
    };
    bool const pareto = distribution.family == TailFamily::pareto_tail;
    finite(distribution.a, "first coefficient of a tail");
    finite(distribution.b, "second coefficient of a tail");
    finite(distribution.threshold, "threshold of a tail");
    if (!pareto) { demand_positive(distribution.b, "second coefficient of a tail", hint); }
    if (pareto || distribution.family == TailFamily::weibull) {
        demand_positive(distribution.a, "first coefficient of a tail", hint);
    }
    if (pareto) {
        demand_share(distribution.share_beyond, "share beyond a threshold", hint);
        demand_positive(distribution.share_beyond, "share beyond a threshold", hint);
    }
}

double mean_from_highest(TailDistribution const& distribution, Ranks workers, double share) {
    // With p = share / (1 + e^y) the integrand is analytic and falls exponentially on both sides: the trapezoidal rule
    // converges faster than any power of its step. Shares below e^-690 are not to be had.
    constexpr double step = 1.0 / 32.0, lowest = -48.0, highest = 690.0, nothing = 1e-19;
    if (distribution.family == TailFamily::pareto_tail && distribution.b >= 1.0) {
        return std::numeric_limits<double>::infinity();
    }
    double const k = workers.count(), passed = std::log(k * share) + 2.0;
    double sum = 0.0;
    for (double y = lowest; y < highest; y += step) {
        double const p = share / (1.0 + std::exp(y));
        double const weight = k * std::exp((k - 1.0) * log_below(y, share)) * p / (1.0 + std::exp(-y));
        if (weight == 0.0) { continue; }
        double const term =
            weight * (p > 0.5 ? distribution.quantile(std::exp(log_below(y, share))) : distribution.quantile_above(p));
        sum += term;
        if (y > passed && std::abs(term) < nothing * std::abs(sum)) { break; }
    }
    return sum * step;
}

double expected_maximum(TailDistribution const& distribution, Ranks workers) {
    demand_distribution(distribution);
    switch (distribution.family) {
    case TailFamily::normal: return distribution.a + distribution.b * expected_maximum_normal(workers);
    case TailFamily::exponential: return distribution.a + distribution.b * expected_maximum_exponential(workers);
    default: break;
    }
    TailDistribution whole = distribution;
    whole.share_beyond = 1.0;
    return mean_from_highest(whole, workers, 1.0);
}

} // namespace headroom::serving
