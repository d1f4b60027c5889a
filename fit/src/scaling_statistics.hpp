#pragma once

#include "headroom/fit/scaling_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headroom::fit {

/// The t with P(T <= t) = p under Student's distribution, for 0.5 <= p < 1. Source: [AbramowitzStegun1964]
double student_t_quantile(double p, int degrees_of_freedom);

/// n ln(RSS/n) + 2k + 2k(k+1)/(n-k-1), k with the variance counted. Residuals below the rounding of values of this
/// size count as that rounding. Empty where n < k + 2. Source: [HurvichTsai1989]
std::optional<double> aicc_of(double rss, double mean_square, int samples, int coefficients);

/// 200 mean(|p - a| / (|p| + |a|)), in percent.
double smape_of(std::span<double const> actual, std::span<double const> predicted);

/// 1 - (RSS/df) / (TSS/(n-1)) with weights; empty when nothing varies.
std::optional<double> adjusted_r2_of(std::span<ScalingSample const> samples, double rss, int degrees_of_freedom);

/// sum w y^2 / n.
double mean_square_of(std::span<ScalingSample const> samples);

/// The median of the samples of each worker count, each with weight 1.
std::vector<ScalingSample> medians_of(std::span<ScalingSample const> samples);

/// Between order statistics, linearly. `sorted` is not empty.
double quantile_of(std::span<double const> sorted, double share);

/// The middle value, or the mean of the two in the middle; 0 of none.
double median_of(std::vector<double> values);

/// Pairs of value and weight: the least value at or below which `share` of the weight lies; 0 of none.
double weighted_quantile(std::vector<std::pair<double, double>> values, double share);

/// Values in order, of more than `most` those evenly spread over it, both ends among them.
template <class Value> std::vector<Value> sorted_and_thinned(std::vector<Value> values, std::size_t most) {
    std::ranges::sort(values);
    if (values.size() <= most) { return values; }
    std::vector<Value> kept;
    for (std::size_t i = 0; i < most; ++i) { kept.push_back(values[i * (values.size() - 1) / (most - 1)]); }
    return kept;
}

/// A number by a format of printf.
std::string number_words(double value, char const* format = "%.3g");

/// Splitmix64: the numbers of a seed, the same everywhere.
class SeededRandom {
public:
    explicit constexpr SeededRandom(std::uint64_t seed) : state_{seed} {}
    constexpr std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

private:
    constexpr std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31U);
    }
    std::uint64_t state_;
};

} // namespace headroom::fit
