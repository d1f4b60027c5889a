#include "tail/binomial.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headroom {

namespace {

constexpr double negligible = 1e-18; ///< of a sum

/// ln n! less Stirling's (n + 1/2) ln n - n + ln(2 pi)/2: the rest of a great factorial keeps its digits apart.
double stirling_rest(double n) {
    constexpr double series_from = 16.0;
    if (n < series_from) {
        return std::lgamma(n + 1.0) - (n + 0.5) * std::log(n) + n - 0.5 * std::log(2.0 * std::numbers::pi);
    }
    double const square = 1.0 / (n * n);
    return (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0)))) /
           n;
}

/// x ln(x / m) + m - x without loss where x is near m.
double deviance(double x, double m) {
    double const off = (x - m) / (x + m);
    if (std::abs(off) > 0.1) { return x * std::log(x / m) + m - x; }
    double sum = (x - m) * off, power = 2.0 * x * off;
    for (int odd = 3; odd < 100; odd += 2) {
        power *= off * off;
        double const more = sum + power / odd;
        if (more == sum) { break; }
        sum = more;
    }
    return sum;
}

/// C(n, k) p^k (1-p)^(n-k).
double binomial_at(double k, double n, double p, double not_p) {
    if (k == 0.0) { return std::exp(p < 0.5 ? n * std::log1p(-p) : n * std::log(not_p)); }
    if (k == n) { return std::exp(not_p < 0.5 ? n * std::log1p(-not_p) : n * std::log(p)); }
    double const rest = stirling_rest(n) - stirling_rest(k) - stirling_rest(n - k);
    return std::exp(rest - deviance(k, n * p) - deviance(n - k, n * not_p)) *
           std::sqrt(n / (2.0 * std::numbers::pi * k * (n - k)));
}

} // namespace

double binomial_up_to(double k, double n, double p, double not_p) {
    if (k >= n || p <= 0.0) { return 1.0; }
    if (not_p <= 0.0) { return 0.0; }
    double sum = 1.0, term = 1.0;
    if (k < n * p) { // from k downwards
        for (double j = k; j > 0.0 && term > negligible * sum; --j) {
            term *= j / (n - j + 1.0) * (not_p / p);
            sum += term;
        }
        return std::min(1.0, sum * binomial_at(k, n, p, not_p));
    }
    for (double j = k + 1.0; j < n && term > negligible * sum; ++j) { // from k + 1 upwards
        term *= (n - j) / (j + 1.0) * (p / not_p);
        sum += term;
    }
    return std::max(0.0, 1.0 - sum * binomial_at(k + 1.0, n, p, not_p));
}

double none_drawn(double m, double k, double n) {
    constexpr double one_by_one = 64.0;
    if (m + k > n) { return 0.0; }
    double const fewer = std::min(m, k), more = std::max(m, k);
    if (fewer <= one_by_one) {
        double product = 1.0;
        for (double j = 0.0; j < fewer; ++j) { product *= (n - more - j) / (n - j); }
        return product;
    }
    double const left = n - fewer - more;
    if (left < 1.0) { return 0.0; } // below 1e-37
    // ln of (n - m)! (n - k)! / (n! (n - m - k)!) by Stirling, where what is equal has gone.
    double const rest = stirling_rest(n - fewer) + stirling_rest(n - more) - stirling_rest(n) - stirling_rest(left);
    double const logarithm = (n + 0.5) * std::log1p(-fewer / n) - (n - more + 0.5) * std::log1p(-fewer / (n - more)) +
                             fewer * std::log1p(-more / (n - fewer));
    return std::exp(rest + logarithm);
}

} // namespace headroom
