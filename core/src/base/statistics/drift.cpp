#include "sample_values.hpp"

#include "headroom/sample_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom {

namespace {

constexpr std::size_t fewest = 8;
constexpr std::size_t most_exact = 60; ///< samples whose orders are counted one by one; beyond, a normal is as good

/// Pairs i < j of values[first..last) with values[j] <= values[i]. Leaves them in order.
std::size_t falling_pairs(std::vector<double>& values, std::vector<double>& room, std::size_t first, std::size_t last) {
    if (last - first < 2) { return 0; }
    std::size_t const middle = first + (last - first) / 2;
    std::size_t pairs = falling_pairs(values, room, first, middle) + falling_pairs(values, room, middle, last);
    std::size_t left = first, right = middle;
    for (std::size_t at = first; at < last; ++at) {
        bool const takes_right = left == middle || (right < last && values[right] <= values[left]);
        if (takes_right) { pairs += middle - left; } // below or beside all that are left over there
        room[at] = takes_right ? values[right++] : values[left++];
    }
    std::copy(room.begin() + static_cast<std::ptrdiff_t>(first), room.begin() + static_cast<std::ptrdiff_t>(last),
              values.begin() + static_cast<std::ptrdiff_t>(first));
    return pairs;
}

/// Pairs of samples whose slope is at most this.
std::size_t slopes_at_most(std::span<double const> samples, double slope) {
    std::vector<double> values(samples.size()), room(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) { values[i] = samples[i] - slope * static_cast<double>(i); }
    return falling_pairs(values, room, 0, values.size());
}

/// The median of all slopes between two samples. The steepest stand between neighbours: any other is a mean of those.
double median_slope(std::span<double const> samples) {
    double low = samples[1] - samples[0], high = low;
    for (std::size_t i = 2; i < samples.size(); ++i) {
        low = std::min(low, samples[i] - samples[i - 1]);
        high = std::max(high, samples[i] - samples[i - 1]);
    }
    std::size_t const pairs = samples.size() * (samples.size() - 1) / 2;
    return select_median(pairs, low, high, [&](double slope) { return slopes_at_most(samples, slope); });
}

/// Rising pairs less falling pairs.
double order_score(std::span<double const> samples) {
    std::vector<double> turned(samples.size());
    std::ranges::transform(samples, turned.begin(), std::negate{});
    auto const not_falling = static_cast<double>(slopes_at_most(turned, 0.0));
    return not_falling - static_cast<double>(slopes_at_most(samples, 0.0));
}

/// P(|S| >= score) over all n! orders of n different values: each new value falls below 0, 1, ... of those before it, all
/// as likely.
double exact_probability(std::size_t n, double score) {
    std::vector<double> falling{1.0}; // by the number of falling pairs
    for (std::size_t size = 2; size <= n; ++size) {
        std::vector<double> next(falling.size() + size - 1);
        for (std::size_t pairs = 0; pairs < falling.size(); ++pairs) {
            for (std::size_t below = 0; below < size; ++below) {
                next[pairs + below] += falling[pairs] / static_cast<double>(size);
            }
        }
        falling = std::move(next);
    }
    auto const pairs = static_cast<double>(falling.size() - 1);
    double sum = 0.0;
    for (std::size_t at = 0; at < falling.size(); ++at) {
        if (std::abs(pairs - 2.0 * static_cast<double>(at)) >= std::abs(score)) { sum += falling[at]; }
    }
    return std::min(1.0, sum);
}

/// By the normal distribution, with a correction for values that are equal and one for S being a whole number.
double normal_probability(std::size_t count, std::span<std::size_t const> tied, double score) {
    auto const pairs_variance = [](std::size_t size) {
        double const n = static_cast<double>(size);
        return n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    };
    double variance = pairs_variance(count);
    for (std::size_t const size : tied) { variance -= pairs_variance(size); }
    if (score == 0.0 || variance <= 0.0) { return 1.0; }
    return outside_normal((std::abs(score) - 1.0) / std::sqrt(variance));
}

} // namespace

std::optional<Drift> find_drift(std::span<double const> samples) {
    check_samples(samples, 0);
    if (samples.size() < fewest) { return std::nullopt; }
    std::vector<double> const values = in_order(samples);
    std::vector<std::size_t> const tied = ties(values);
    double const score = order_score(samples);
    double const change = median_slope(samples) * static_cast<double>(samples.size() - 1);
    bool const exact = tied.empty() && samples.size() <= most_exact;
    return Drift{.change = change == 0.0 ? 0.0 : change / std::abs(median_of(values)),
                 .probability = exact ? exact_probability(samples.size(), score)
                                      : normal_probability(samples.size(), tied, score)};
}

} // namespace headroom
