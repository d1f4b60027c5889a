#include "service_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headroom::serving::queueing {
namespace {

constexpr double precision = std::numeric_limits<double>::epsilon();
/// Below it, gamma times differ from the mean only beyond the digits of the sums.
constexpr double least_variation = 1e-8;
constexpr int most_terms = 1'000'000;

/// x^k e^-x / Gamma(k).
double density_times_x(double shape, double x) { return std::exp(shape * std::log(x) - x - std::lgamma(shape)); }

double below_by_series(double shape, double x) {
    double term = 1.0 / shape, sum = term;
    for (int n = 1; n < most_terms && term > precision * sum; ++n) { sum += term *= x / (shape + n); }
    return sum * density_times_x(shape, x);
}

/// Lentz's way through the continued fraction.
double above_by_fraction(double shape, double x) {
    double b = x + 1.0 - shape, c = 1.0 / std::numeric_limits<double>::min(), d = 1.0 / b, product = d;
    for (int n = 1; n < most_terms; ++n) {
        double const a = n * (shape - n);
        b += 2.0;
        d = 1.0 / (b + a * d);
        c = b + a / c;
        product *= c * d;
        if (std::abs(c * d - 1.0) < precision) { break; }
    }
    return product * density_times_x(shape, x);
}

/// For exponential services: the sum of two waits without memory, of rates m and t, with t as near to m as it likes.
double above_two_exponentials(double m, double t, double x) {
    double const apart = (m - t) * x;
    if (apart == 0.0) { return std::exp(-m * x) * (1.0 + m * x); }
    if (std::abs(apart) > 1.0) { return (m * std::exp(-t * x) - t * std::exp(-m * x)) / (m - t); }
    return std::exp(-m * x) * (1.0 + m * x * std::expm1(apart) / apart);
}

/// Gauss and Legendre's rule of five points on panels.
template <class F> double integral(F const& f, double low, double high, int panels) {
    constexpr std::array<double, 3> place{0.0, 0.5384693101056831, 0.9061798459386640};
    constexpr std::array<double, 3> weight{0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
    double const half = 0.5 * (high - low) / panels;
    double sum = 0.0;
    for (int panel = 0; panel < panels; ++panel) {
        double const middle = low + (2.0 * panel + 1.0) * half;
        sum += weight[0] * f(middle);
        for (std::size_t i = 1; i < place.size(); ++i) {
            sum += weight[i] * (f(middle - place[i] * half) + f(middle + place[i] * half));
        }
    }
    return sum * half;
}

} // namespace

double gamma_above(double shape, double x) {
    if (!(x > 0.0)) { return 1.0; }
    if (std::isinf(x)) { return 0.0; }
    return x < shape + 1.0 ? 1.0 - below_by_series(shape, x) : above_by_fraction(shape, x);
}

double ServiceTime::above(double x) const {
    if (x < 0.0) { return 1.0; }
    if (variation_ == 1.0) { return std::exp(-x / mean_); }
    if (variation_ < least_variation) { return x < mean_ ? 1.0 : 0.0; }
    return gamma_above(1.0 / variation_, x / (mean_ * variation_));
}

/// With the gamma's rate b and shape k, and the wait's rate t: where t < b
///
///     P(S > x) + e^(-t x) (b / (b - t))^k P(gamma of rate b - t <= x)
///
/// else e^(-t x) + the integral of P(S > x - y) t e^(-t y) dy over the wait y, taken over u = e^(-t y).
double ServiceTime::above_after_exponential(double wait, double x) const {
    constexpr double largest_exponent = 20.0;
    constexpr int panels = 16;
    double const t = 1.0 / wait;
    if (variation_ == 1.0) { return above_two_exponentials(1.0 / mean_, t, x); }
    if (variation_ < least_variation) { return x < mean_ ? 1.0 : std::exp(-t * (x - mean_)); }
    double const shape = 1.0 / variation_, b = shape / mean_;
    double const exponent = t < b ? -shape * std::log1p(-t / b) : largest_exponent;
    if (exponent < largest_exponent) {
        return above(x) + std::exp(exponent - t * x) * (1.0 - gamma_above(shape, (b - t) * x));
    }
    double const least = std::exp(-t * x);
    return least + integral([&](double u) { return above(x + std::log(u) * wait); }, least, 1.0, panels);
}

/// P(W > x) + the integral of P(S > x - y) f(y) dy for y up to x, over what holds all of f but 1e-12 or so. For a shape k
/// below 1 f has no bound at 0, and u = y^k takes its place.
double ServiceTime::above_after_gamma(ServiceTime const& wait, double x) const {
    constexpr int panels = 16;
    double const shape = 1.0 / wait.variation_, scale = wait.mean_ * wait.variation_;
    double const spread = wait.mean_ * std::sqrt(wait.variation_);
    double const low = shape > 1.0 ? std::max(0.0, wait.mean_ - 8.0 * spread) : 0.0;
    double const high = std::min(x, wait.mean_ + 40.0 * spread);
    if (low >= high) { return wait.above(x); }
    if (shape < 1.0) {
        double const norm = -std::lgamma(shape + 1.0);
        auto const part = [&](double u) {
            double const y = std::pow(u, 1.0 / shape); // in scales
            return above(x - y * scale) * std::exp(norm - y);
        };
        return wait.above(x) + integral(part, 0.0, std::pow(high / scale, shape), panels);
    }
    double const norm = -std::lgamma(shape) - std::log(scale);
    auto const part = [&](double y) {
        double const scaled = y / scale;
        return above(x - y) * std::exp((shape - 1.0) * std::log(scaled) - scaled + norm);
    };
    double const step = std::clamp(x - mean_, low, high); // where services that hardly vary end too late
    return wait.above(x) + integral(part, low, step, panels) + integral(part, step, high, panels);
}

double ServiceTime::above_after(ServiceTime const& wait, double x) const {
    if (wait.mean_ <= 0.0) { return above(x); }
    if (x <= 0.0) { return 1.0; }
    if (std::abs(wait.variation_ - 1.0) < 1e-6) { return above_after_exponential(wait.mean_, x); }
    if (wait.variation_ < least_variation) { return x < wait.mean_ ? 1.0 : above(x - wait.mean_); }
    return above_after_gamma(wait, x);
}

} // namespace headroom::serving::queueing
