#pragma once

#include "headroom/serving/tail_distribution.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace headroom::test {

inline serving::TailDistribution pareto(double a, double b, double threshold = 0.0, double share = 1.0) {
    return {.family = serving::TailFamily::pareto_tail, .a = a, .b = b, .threshold = threshold, .share_beyond = share};
}

/// Distributions of every family, with tails that end and that do not.
inline std::vector<serving::TailDistribution> examples() {
    return {{.family = serving::TailFamily::normal, .a = 10.0, .b = 2.0},
            {.family = serving::TailFamily::lognormal, .a = -3.0, .b = 0.7},
            {.family = serving::TailFamily::weibull, .a = 2.0, .b = 0.6},
            {.family = serving::TailFamily::weibull, .a = 2.0, .b = 3.0},
            {.family = serving::TailFamily::exponential, .a = 1.0, .b = 0.5},
            pareto(1.0, 0.4),
            pareto(1.0, 0.0),
            pareto(1.0, -0.4)};
}

/// P(X <= x), to the last digit where it is small.
inline double share_up_to(serving::TailDistribution const& tail, double x) {
    using serving::TailFamily;
    switch (tail.family) {
    case TailFamily::normal: return 0.5 * std::erfc((tail.a - x) / tail.b / std::numbers::sqrt2);
    case TailFamily::lognormal: return 0.5 * std::erfc((tail.a - std::log(x)) / tail.b / std::numbers::sqrt2);
    case TailFamily::weibull: return -std::expm1(-std::pow(x / tail.a, tail.b));
    case TailFamily::exponential: return -std::expm1(-(x - tail.a) / tail.b);
    case TailFamily::pareto_tail: break;
    }
    return 1.0 - tail.share_above(x);
}

} // namespace headroom::test
