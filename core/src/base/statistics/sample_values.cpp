#include "sample_values.hpp"

#include "normal.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>

namespace headroom {

namespace {

/// Doubles in their order as whole numbers in theirs, next to each other as they are.
std::int64_t rank_of(double value) {
    auto const bits = std::bit_cast<std::int64_t>(value);
    return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}

double double_at(std::int64_t rank) {
    return std::bit_cast<double>(rank >= 0 ? rank : std::numeric_limits<std::int64_t>::min() - rank);
}

} // namespace

void check_samples(std::span<double const> samples, std::size_t least) {
    if (samples.size() < least) {
        too_little("samples", std::to_string(samples.size()) + " are too few",
                   "at least " + std::to_string(least) + " are needed", "measure more repetitions");
    }
    if (!std::ranges::all_of(samples, [](double value) { return std::isfinite(value); })) {
        refuse("samples", "one of them is no finite number");
    }
}

std::vector<double> in_order(std::span<double const> samples) {
    std::vector<double> values(samples.begin(), samples.end());
    std::ranges::sort(values);
    return values;
}

double median_of(std::span<double const> sorted) {
    std::size_t const half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : 0.5 * sorted[half - 1] + 0.5 * sorted[half];
}

double select(std::size_t k, double low, double high, std::function<std::size_t(double)> const& at_most) {
    std::int64_t below = rank_of(low), above = rank_of(high); // above: reaches k
    while (below < above) {
        std::int64_t const middle = std::midpoint(below, above);
        if (at_most(double_at(middle)) >= k) {
            above = middle;
        } else {
            below = middle + 1;
        }
    }
    return double_at(above);
}

double select_median(std::size_t count, double low, double high, std::function<std::size_t(double)> const& at_most) {
    std::size_t const half = count / 2;
    if (count % 2 == 1) { return select(half + 1, low, high, at_most); }
    double const left = select(half, low, high, at_most);
    return 0.5 * left + 0.5 * select(half + 1, left, high, at_most);
}

std::vector<std::size_t> ties(std::span<double const> sorted) {
    std::vector<std::size_t> sizes;
    for (std::size_t first = 0; first < sorted.size();) {
        auto const last = static_cast<std::size_t>(
            std::upper_bound(sorted.begin() + static_cast<std::ptrdiff_t>(first), sorted.end(), sorted[first]) -
            sorted.begin());
        if (last - first > 1) { sizes.push_back(last - first); }
        first = last;
    }
    return sizes;
}

double outside_normal(double z) { return 2.0 * normal_beyond(z); }

} // namespace headroom
