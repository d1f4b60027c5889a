#include "headroom/measure/repeat_interval.hpp"

#include "base/statistics/correlation.hpp"

#include "headroom/sample_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace headroom::measure {
namespace {

constexpr double stated_coverage = 0.95;
constexpr double median_coverage = 0.994434; ///< 2 Phi(sqrt(2) 1.95996) - 1
constexpr std::size_t enough_rounds = 9;     ///< 1 - 2^(1-n) reaches it
constexpr double most_likeness = 0.95;

/// Student's t of 97.5 %, by degrees of freedom from 1; between them and beyond, by their inverse.
double student(double freedom) {
    constexpr std::array<double, 10> whole{12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                                           2.4469,  2.3646, 2.3060, 2.2622, 2.2281};
    constexpr double last = whole.size(), normal = 1.9600;
    if (freedom >= last) { return normal + (whole.back() - normal) * last / freedom; }
    auto const below = static_cast<std::size_t>(std::max(freedom, 1.0));
    double const part =
        (1.0 / static_cast<double>(below) - 1.0 / std::max(freedom, 1.0)) * static_cast<double>(below * (below + 1));
    return whole[below - 1] + part * (whole[below] - whole[below - 1]);
}

double deviation_of(std::span<double const> values) {
    double const n = static_cast<double>(values.size());
    double const mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0.0;
    for (double const value : values) { squares += (value - mean) * (value - mean); }
    return std::sqrt(squares / (n - 1.0));
}

/// Correlation between rounds: the larger of the nearest neighbours' and of the one that the integrated autocorrelation
/// time gives. Where each round also errs by itself, neighbours correlate little, but many later rounds do as much.
double likeness_of(std::span<double const> rounds, double middle) {
    double const n = static_cast<double>(rounds.size());
    double const next = correlation(rounds, middle, 1);
    double const sum = correlated_run(rounds, middle);
    return std::clamp(std::max(next + (1.0 + 3.0 * next) / n, (sum - 1.0) / (sum + 1.0)), 0.0, most_likeness);
}

double worth_of(double rounds, double likeness) { return rounds * (1.0 - likeness) / (1.0 + likeness); }

/// Half of Student's interval of a repeat's median, by the number of rounds that so many like ones are worth.
double student_half(std::span<double const> rounds, double likeness) {
    double const n = static_cast<double>(rounds.size());
    double const worth = std::max(worth_of(n, likeness), 1.0 + 1.0 / n);
    double const deviation = deviation_of(rounds) * std::sqrt((1.0 - 1.0 / n) / (1.0 - 1.0 / worth));
    return student(worth - 1.0) * deviation * std::sqrt(std::numbers::pi / worth);
}

} // namespace

double RepeatInterval::width() const { return (high - low) / std::abs(median); }

double RepeatInterval::worth() const { return worth_of(static_cast<double>(rounds), round_likeness); }

RepeatInterval repeat_interval(std::span<double const> rounds, double least_half_width) {
    auto const summary = summarize(rounds, median_coverage);
    std::size_t const n = rounds.size();
    RepeatInterval interval{n, summary.median, summary.low, summary.high, n > 1 ? stated_coverage : 0.0, 0.0};
    if (n >= 4) { interval.round_likeness = likeness_of(rounds, interval.median); }
    if (n > 1 && (n < enough_rounds || interval.round_likeness > 0.0)) {
        double const half = student_half(rounds, interval.round_likeness);
        interval.low = std::min(interval.low, interval.median - half);
        interval.high = std::max(interval.high, interval.median + half);
    }
    double const least = least_half_width * std::abs(interval.median);
    interval.low = interval.median - std::max(interval.median - interval.low, least);
    interval.high = interval.median + std::max(interval.high - interval.median, least);
    if (summary.least > 0.0) { interval.low = std::max(interval.low, 0.0); } // no time and no rate is less
    return interval;
}

} // namespace headroom::measure
