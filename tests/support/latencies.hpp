#pragma once

// Histograms of values that are given or drawn by chance, and all ways to draw from a few.

#include "base/statistics/normal.hpp"
#include "support/random.hpp"

#include "headroom/serving/latency_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace headroom::test {

/// The middles of the cells that these values fall into: a histogram holds them without any error.
inline std::vector<double> on_cells(std::vector<double> values) {
    for (double& value : values) { value = serving::LatencyHistogram::cell_of(value).value; }
    std::ranges::sort(values);
    return values;
}

inline serving::LatencyHistogram histogram_of(std::vector<double> const& values) {
    serving::LatencyHistogram samples;
    for (double const value : values) { samples.record(value); }
    return samples;
}

using Drawing = std::function<double(CounterRandom&)>;

inline std::vector<double> drawn(std::size_t count, CounterRandom& random, Drawing const& draw) {
    std::vector<double> values(count);
    std::ranges::generate(values, [&] { return draw(random); });
    return values;
}

inline double lognormal(CounterRandom& random) { return std::exp(0.5 * normal_exceeded_by(random.uniform())); }

/// As the lognormal, but what lies above its 98th percentile is half as long again.
inline double slower_tail(CounterRandom& random) {
    double const value = lognormal(random), from = std::exp(0.5 * normal_exceeded_by(0.02));
    return value > from ? 1.5 * value : value;
}

/// Each way to draw k of these values with replacement.
inline void each_tuple(std::vector<double> const& values, int k,
                       std::function<void(std::vector<double> const&)> const& visit) {
    std::vector<std::size_t> at(static_cast<std::size_t>(k), 0);
    std::vector<double> drawn(at.size());
    for (bool more = true; more;) {
        for (std::size_t i = 0; i < at.size(); ++i) { drawn[i] = values[at[i]]; }
        visit(drawn);
        more = false;
        for (std::size_t& digit : at) {
            if (++digit < values.size()) {
                more = true;
                break;
            }
            digit = 0;
        }
    }
}

/// Each way to draw k of these values without replacement, as a set.
inline void each_subset(std::vector<double> const& values, int k,
                        std::function<void(std::vector<double> const&)> const& visit) {
    for (std::size_t chosen = 0; chosen < std::size_t{1} << values.size(); ++chosen) {
        std::vector<double> drawn;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if ((chosen >> i & 1U) != 0) { drawn.push_back(values[i]); }
        }
        if (drawn.size() == static_cast<std::size_t>(k)) { visit(drawn); }
    }
}

/// Mean of all, and the smallest that at least a share q does not exceed, by sorting.
struct Enumerated {
    std::vector<double> values;
    void add(double value) { values.push_back(value); }
    [[nodiscard]] double mean() const {
        double sum = 0.0;
        for (double const value : values) { sum += value; }
        return sum / static_cast<double>(values.size());
    }
    [[nodiscard]] double quantile(double q) {
        std::ranges::sort(values);
        double const rank = std::ceil(q * static_cast<double>(values.size()) * (1.0 - 1e-13));
        return values[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
    }
};

} // namespace headroom::test
