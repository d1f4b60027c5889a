#include "tail_fit_cells.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headroom::fit {

using namespace headroom::serving;

namespace {

constexpr double narrow = 1e-3; ///< width of a cell in standard deviations below which its density stands for it

/// Density g of a standard variable, with derivatives of its logarithm, and the probability of an interval.
struct StandardNormal {
    static double log_density(double z) { return -0.5 * z * z - 0.5 * std::log(2.0 * std::numbers::pi); }
    static double slope(double z) { return -z; }
    static double curvature(double) { return -1.0; }
    /// ln P(Z > z) for z above zero, by its asymptotic series where the probability is no number any more.
    static double log_above(double z) {
        constexpr double far = 25.0;
        if (z < far) { return std::log(0.5 * std::erfc(z / std::numbers::sqrt2)); }
        double const s = 1.0 / (z * z);
        return log_density(z) - std::log(z) + std::log1p(-s * (1.0 - s * (3.0 - s * (15.0 - 105.0 * s))));
    }
    static double log_between(double low, double high) {
        constexpr double root = std::numbers::sqrt2;
        if (low < 0.0 && high > 0.0) { return std::log(0.5 * (std::erf(high / root) - std::erf(low / root))); }
        double const near = log_above(std::max(low, -high)), far = log_above(std::max(-low, high));
        return near + std::log(-std::expm1(far - near));
    }
};

/// ln of a standard Weibull variable: P(Z > z) = exp(-e^z).
struct StandardGumbel {
    static double log_density(double z) { return z - std::exp(z); }
    static double slope(double z) { return 1.0 - std::exp(z); }
    static double curvature(double z) { return -std::exp(z); }
    static double log_between(double low, double high) {
        double const from = std::exp(low);
        return -from + std::log(-std::expm1(from - std::exp(high)));
    }
};

struct Interval {
    double low, high;
    double width; ///< to its last digit, where both ends are far out and nearly equal
    double count;
};

/// Samples as intervals of t, in units of their deviation about their mean.
struct Standardised {
    std::vector<Interval> intervals;
    double mean = 0.0, deviation = 0.0, count = 0.0;
};

template <class Transform> Standardised standardised(std::span<FilledCell const> cells, Transform const& transform) {
    Standardised result;
    result.intervals.reserve(cells.size());
    double edge = -1.0, at = 0.0;
    for (FilledCell const& cell : cells) {
        double const low = cell.low == edge ? at : transform(cell.low);
        edge = cell.high;
        at = transform(edge);
        result.intervals.push_back({low, at, at - low, cell.count});
        result.count += cell.count;
        result.mean += cell.count * 0.5 * (low + at);
    }
    result.mean /= result.count;
    double squares = 0.0;
    for (Interval const& interval : result.intervals) {
        double const off = 0.5 * (interval.low + interval.high) - result.mean;
        squares += interval.count * off * off;
    }
    result.deviation = std::sqrt(squares / result.count);
    for (Interval& interval : result.intervals) {
        interval.low = (interval.low - result.mean) / result.deviation;
        interval.high = (interval.high - result.mean) / result.deviation;
        interval.width /= result.deviation;
    }
    return result;
}

/// ln L and its derivatives by (shift, rate) of z = rate t - shift.
struct Likelihood {
    double value = 0.0;
    Pair slope;
    PairMatrix curvature;

    /// n times one more logarithm of a probability.
    void add(double n, double log, Pair its_slope, PairMatrix its_curvature) {
        value += n * log;
        slope = {slope.a + n * its_slope.a, slope.b + n * its_slope.b};
        curvature = {curvature.aa + n * its_curvature.aa, curvature.ab + n * its_curvature.ab,
                     curvature.bb + n * its_curvature.bb};
    }
};

/// By the density in the middle.
template <class Standard> void add_narrow(Likelihood& sum, Interval const& interval, double t, double rate, double z) {
    double const slope = Standard::slope(z), curvature = Standard::curvature(z);
    sum.add(interval.count, Standard::log_density(z) + std::log(rate * interval.width),
            {-slope, t * slope + 1.0 / rate}, {curvature, -t * curvature, t * t * curvature - 1.0 / (rate * rate)});
}

template <class Standard> void add(Likelihood& sum, Interval const& interval, double shift, double rate) {
    double const low = rate * interval.low - shift, high = rate * interval.high - shift;
    if (rate * interval.width < narrow) {
        return add_narrow<Standard>(sum, interval, 0.5 * (interval.low + interval.high), rate, 0.5 * (low + high));
    }
    double const share = Standard::log_between(low, high);
    double const a = interval.low, b = interval.high;
    double const at_a = std::exp(Standard::log_density(low) - share);
    double const at_b = std::exp(Standard::log_density(high) - share);
    double const turn_a = at_a * Standard::slope(low), turn_b = at_b > 0.0 ? at_b * Standard::slope(high) : 0.0;
    Pair const slope{at_a - at_b, b * at_b - a * at_a};
    sum.add(interval.count, share, slope,
            {turn_b - turn_a - slope.a * slope.a, a * turn_a - b * turn_b - slope.a * slope.b,
             b * b * turn_b - a * a * turn_a - slope.b * slope.b});
}

template <class Standard> Likelihood likelihood(Standardised const& samples, Pair place) {
    Likelihood sum;
    for (Interval const& interval : samples.intervals) { add<Standard>(sum, interval, place.a, place.b); }
    return sum;
}

struct Greatest {
    Pair place;
    PairMatrix covariance;
    double value = 0.0;
};

/// Newton's steps, halved where they lead down: ln L is concave, for log-concave densities, in shift and rate.
template <class Standard> std::optional<Greatest> maximise(Standardised const& samples, Pair place) {
    constexpr int most_steps = 60, most_halvings = 40;
    constexpr double close = 1e-9; // of ln L: a few 1e-5 of the standard errors
    Likelihood now = likelihood<Standard>(samples, place);
    for (int step = 0; step < most_steps; ++step) {
        PairMatrix const covariance = PairMatrix{-now.curvature.aa, -now.curvature.ab, -now.curvature.bb}.inverse();
        Pair const change = covariance * now.slope;
        double const gain = now.slope.dot(change);
        if (!std::isfinite(gain) || gain < 0.0) { return std::nullopt; }
        if (gain < close) { return Greatest{place, covariance, now.value}; }
        double part = 1.0;
        for (int halving = 0; halving < most_halvings; ++halving, part *= 0.5) {
            Pair const there{place.a + part * change.a, place.b + part * change.b};
            if (there.b <= 0.0) { continue; }
            Likelihood const next = likelihood<Standard>(samples, there);
            if (next.value + 1e-12 * std::abs(now.value) >= now.value) {
                place = there;
                now = next;
                break;
            }
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<TailFit> fit_location(TailFamily family, std::span<FilledCell const> cells) {
    bool const logarithmic = family != TailFamily::normal;
    if (logarithmic && cells.front().low <= 0.0) { return std::nullopt; }
    Standardised const samples = logarithmic ? standardised(cells, [](double x) { return std::log(x); })
                                             : standardised(cells, [](double x) { return x; });
    if (!(samples.deviation > 0.0)) { return std::nullopt; }
    // Starting values: ln of a Weibull variable has mean -gamma and deviation pi / sqrt(6); flatter where e^z would
    // outgrow all else.
    bool const weibull = family == TailFamily::weibull;
    constexpr double farthest = 3.0;
    double const first_rate = std::min(std::numbers::pi / std::sqrt(6.0), farthest / samples.intervals.back().high);
    auto const found = weibull ? maximise<StandardGumbel>(samples, {std::numbers::egamma, first_rate})
                               : maximise<StandardNormal>(samples, {0.0, 1.0});
    if (!found) { return std::nullopt; }
    // t = mean + deviation (z + shift) / rate
    double const shift = found->place.a, rate = found->place.b, unit = samples.deviation;
    double const scale = unit / rate, location = samples.mean + scale * shift;
    Pair const by_location{scale, -scale * shift / rate};
    double const location_error = std::sqrt(by_location.dot(found->covariance * by_location));
    double const rate_error = std::sqrt(found->covariance.bb);
    TailFit fit;
    fit.distribution.family = family;
    fit.distribution.a = weibull ? std::exp(location) : location;
    fit.a_error = weibull ? fit.distribution.a * location_error : location_error;
    fit.distribution.b = weibull ? rate / unit : scale;
    fit.b_error = weibull ? rate_error / unit : scale * rate_error / rate;
    fit.log_likelihood = found->value;
    return fit;
}

} // namespace headroom::fit
