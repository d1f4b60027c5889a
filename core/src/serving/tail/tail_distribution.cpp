#include "headroom/serving/tail_distribution.hpp"

#include "base/quantity/demand.hpp"
#include "base/statistics/normal.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::serving {

namespace {

constexpr char const* share_hint = "give 0 to 1, e.g. 0.99";

double excess_above(double p, double a, double b) {
    return b == 0.0 ? -a * std::log(p) : a * std::expm1(-b * std::log(p)) / b;
}

/// P(X > x) of a Pareto excess x >= 0.
double pareto_above(double x, double a, double b) {
    if (b == 0.0) { return std::exp(-x / a); }
    double const grown = b * x / a;
    return grown <= -1.0 ? 0.0 : std::exp(-std::log1p(grown) / b);
}

} // namespace

std::string_view name_of(TailFamily family) {
    switch (family) {
    case TailFamily::normal: return "normal";
    case TailFamily::lognormal: return "lognormal";
    case TailFamily::weibull: return "weibull";
    case TailFamily::exponential: return "exponential";
    case TailFamily::pareto_tail: return "pareto tail";
    }
    throw ContractError{"no such family of tails"};
}

double TailDistribution::share_above(double x) const {
    switch (family) {
    case TailFamily::normal: return normal_beyond((x - a) / b);
    case TailFamily::lognormal: return x <= 0.0 ? 1.0 : normal_beyond((std::log(x) - a) / b);
    case TailFamily::weibull: return x <= 0.0 ? 1.0 : std::exp(-std::pow(x / a, b));
    case TailFamily::exponential: return x <= a ? 1.0 : std::exp(-(x - a) / b);
    case TailFamily::pareto_tail:
        return x <= threshold ? share_beyond : share_beyond * pareto_above(x - threshold, a, b);
    }
    throw ContractError{"no such family of tails"};
}

double TailDistribution::quantile(double q) const {
    demand_share(q, "quantile", share_hint);
    if (q <= 0.5) { // near zero 1 - q has lost its digits
        switch (family) {
        case TailFamily::normal: return a - b * normal_exceeded_by(q);
        case TailFamily::lognormal: return std::exp(a - b * normal_exceeded_by(q));
        case TailFamily::weibull: return a * std::pow(-std::log1p(-q), 1.0 / b);
        case TailFamily::exponential: return a - b * std::log1p(-q);
        case TailFamily::pareto_tail: break;
        }
    }
    return quantile_above(1.0 - q);
}

double TailDistribution::quantile_above(double p) const {
    demand_share(p, "share above a quantile", share_hint);
    switch (family) {
    case TailFamily::normal: return a + b * normal_exceeded_by(p);
    case TailFamily::lognormal: return std::exp(a + b * normal_exceeded_by(p));
    case TailFamily::weibull: return a * std::pow(-std::log(p), 1.0 / b);
    case TailFamily::exponential: return a - b * std::log(p);
    case TailFamily::pareto_tail: return threshold + excess_above(std::min(1.0, p / share_beyond), a, b);
    }
    throw ContractError{"no such family of tails"};
}

} // namespace headroom::serving
