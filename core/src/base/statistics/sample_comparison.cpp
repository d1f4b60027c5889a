#include "sample_values.hpp"

#include "headroom/error.hpp"
#include "headroom/sample_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom {

namespace {

constexpr std::size_t fewest = 4;      ///< on each side; with fewer no interval covers 95 %
constexpr std::size_t most_exact = 60; ///< samples of both sides together whose ranks are counted one by one
constexpr double missed = 0.05;
constexpr double normal_quantile = 1.959963984540054; ///< of 1 - missed / 2

/// Ranks of all values together, doubled: equal values share the mean of theirs, which may be a half.
struct JointRanks {
    std::vector<std::size_t> doubled; ///< of all, in the order of their values
    std::size_t first_sum = 0;        ///< of the first side
    std::vector<std::size_t> tied;
};

JointRanks joint_ranks(std::span<double const> first, std::span<double const> second) {
    std::vector<double> all(first.begin(), first.end());
    all.insert(all.end(), second.begin(), second.end());
    std::ranges::sort(all);
    auto const rank = [&](double value) {
        auto const [low, high] = std::equal_range(all.begin(), all.end(), value);
        return static_cast<std::size_t>((low - all.begin()) + (high - all.begin()) + 1);
    };
    JointRanks ranks{.doubled = std::vector<std::size_t>(all.size()), .tied = ties(all)};
    std::ranges::transform(all, ranks.doubled.begin(), rank);
    for (double const value : first) { ranks.first_sum += rank(value); }
    return ranks;
}

/// Probability of each sum of `chosen` of these ranks, by sum, when all choices are equally likely.
std::vector<double> rank_sums(std::span<std::size_t const> ranks, std::size_t chosen) {
    std::size_t most = 0;
    for (std::size_t const rank : ranks) { most += rank; }
    std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(most + 1)); // by how many, and their sum
    ways[0][0] = 1.0;
    std::size_t seen = 0, reached = 0; // no sum is greater yet
    for (std::size_t const rank : ranks) {
        ++seen;
        reached += rank;
        for (std::size_t count = std::min(chosen, seen); count > 0; --count) {
            for (std::size_t sum = rank; sum <= reached; ++sum) { ways[count][sum] += ways[count - 1][sum - rank]; }
        }
    }
    double all = 0.0;
    for (double const count : ways[chosen]) { all += count; }
    for (double& count : ways[chosen]) { count /= all; }
    return std::move(ways[chosen]);
}

/// P(a sum of ranks as far from its mean as this one, or farther), over all ways to deal the values to the sides.
double exact_probability(JointRanks const& ranks, std::size_t first) {
    auto const likely = rank_sums(ranks.doubled, first);
    double const mean = static_cast<double>(first * (ranks.doubled.size() + 1)); // doubled, as the ranks are
    double const far = std::abs(static_cast<double>(ranks.first_sum) - mean);
    double sum = 0.0;
    for (std::size_t at = 0; at < likely.size(); ++at) {
        if (std::abs(static_cast<double>(at) - mean) >= far) { sum += likely[at]; }
    }
    return std::min(1.0, sum);
}

/// By the normal distribution, with a correction for equal values and one for steps of a half.
double normal_probability(JointRanks const& ranks, double first, double second) {
    double const all = first + second;
    double equal = 0.0;
    for (std::size_t const size : ranks.tied) {
        double const t = static_cast<double>(size);
        equal += t * (t * t - 1.0);
    }
    double const variance = first * second / 12.0 * (all + 1.0 - equal / (all * (all - 1.0)));
    double const far = 0.5 * std::abs(static_cast<double>(ranks.first_sum) - first * (all + 1.0));
    return variance <= 0.0 ? 1.0 : std::min(1.0, outside_normal(std::max(0.0, far - 0.5) / std::sqrt(variance)));
}

/// k so that the k-th smallest and the k-th greatest of all differences hold the shift: the largest with
/// P(U < k) <= missed / 2 of Mann and Whitney's U.
std::size_t interval_rank(std::size_t first, std::size_t second) {
    if (first + second > most_exact) {
        double const m = static_cast<double>(first), n = static_cast<double>(second);
        double const inside = normal_quantile * std::sqrt(m * n * (m + n + 1.0) / 12.0);
        return static_cast<std::size_t>(std::max(1.0, std::floor(0.5 * m * n - inside)));
    }
    std::vector<std::size_t> ranks(first + second);
    for (std::size_t at = 0; at < ranks.size(); ++at) { ranks[at] = at + 1; }
    auto const likely = rank_sums(ranks, first);
    std::size_t const least = first * (first + 1) / 2; // the sum of ranks where U is 0
    double below = likely[least];
    std::size_t k = 1;
    while (below + likely[least + k] <= missed / 2.0) { below += likely[least + k++]; }
    return k;
}

/// Differences second - first that are at most this, both in order.
std::size_t differences_at_most(std::span<double const> first, std::span<double const> second, double limit) {
    std::size_t count = 0, above = 0; // of the second, for the present one of the first
    for (double const value : first) {
        while (above < second.size() && second[above] - value <= limit) { ++above; }
        count += above;
    }
    return count;
}

void require_positive(std::span<double const> samples) {
    if (std::ranges::all_of(samples, [](double value) { return value > 0.0; })) { return; }
    refuse("samples", "one of them is not positive", "a ratio needs that");
}

std::vector<double> logarithms(std::span<double const> samples) {
    std::vector<double> values(samples.size());
    std::ranges::transform(samples, values.begin(), [](double value) { return std::log(value); });
    return values;
}

} // namespace

SampleComparison compare_samples(std::span<double const> first, std::span<double const> second) {
    check_samples(first, fewest);
    check_samples(second, fewest);
    std::vector<double> const left = in_order(first), right = in_order(second);
    std::size_t const pairs = left.size() * right.size();
    double const least = right.front() - left.back(), most = right.back() - left.front();
    auto const at_most = [&](double limit) { return differences_at_most(left, right, limit); };
    std::size_t const rank = interval_rank(left.size(), right.size());
    JointRanks const ranks = joint_ranks(left, right);
    SampleComparison comparison;
    comparison.shift = select_median(pairs, least, most, at_most);
    comparison.low = select(rank, least, most, at_most);
    comparison.high = select(pairs + 1 - rank, least, most, at_most);
    comparison.probability =
        left.size() + right.size() <= most_exact
            ? exact_probability(ranks, left.size())
            : normal_probability(ranks, static_cast<double>(left.size()), static_cast<double>(right.size()));
    comparison.relative = comparison.shift == 0.0 ? 0.0 : comparison.shift / std::abs(median_of(left));
    return comparison;
}

SampleRatio compare_ratio(std::span<double const> first, std::span<double const> second) {
    check_samples(first, fewest);
    check_samples(second, fewest);
    require_positive(first);
    require_positive(second);
    SampleComparison const logarithmic = compare_samples(logarithms(first), logarithms(second));
    return {std::exp(logarithmic.shift), std::exp(logarithmic.low), std::exp(logarithmic.high)};
}

} // namespace headroom
