#include "base/statistics/correlation.hpp"
#include "base/statistics/sample_values.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/latency_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace headroom::serving {
namespace {

/// P(sup |B| > x) of a Brownian bridge B on [0, 1]:
///
///     2 sum_k (-1)^(k-1) exp(-2 k^2 x^2)
///
/// Source: [Pettitt1979]
double beyond_brownian_bridge(double x) {
    if (x < 0.2) { return 1.0; } // to 1e-12
    double sum = 0.0, sign = 1.0;
    for (double k = 1.0;; k += 1.0) {
        double const term = std::exp(-2.0 * k * k * x * x);
        sum += sign * term;
        sign = -sign;
        if (term <= 1e-17 * sum) { break; }
    }
    return std::clamp(2.0 * sum, 0.0, 1.0);
}

constexpr std::size_t least_side = 4; ///< blocks on either side of a change
constexpr std::size_t most_looked_for = 12;
constexpr double least_worth = 10.0; ///< independent blocks that a level lasts; with fewer nothing is called a change
constexpr double most_likeness = 0.99;

/// Blocks from `first` to before `last`, and where they fall apart most clearly.
struct Stretch {
    std::size_t first = 0, last = 0;
    std::size_t split = 0;  ///< the first of its second part
    double clearness = 0.0; ///< the farthest that a Brownian bridge goes, were blocks independent
};

/// Ranks, equal values sharing the mean of theirs, less the mean of all.
std::vector<double> centred_ranks(std::span<double const> values) {
    std::vector<double> const sorted = in_order(values);
    std::vector<double> ranks(values.size());
    std::ranges::transform(values, ranks.begin(), [&](double value) {
        auto const [low, high] = std::equal_range(sorted.begin(), sorted.end(), value);
        auto const both = (low - sorted.begin()) + (high - sorted.begin());
        return 0.5 * (static_cast<double>(both) - static_cast<double>(sorted.size()));
    });
    return ranks;
}

/// Pettitt's test: the sum of ranks up to each block, which for blocks in random order is a Brownian bridge.
Stretch clearest(std::span<double const> values, std::size_t first, std::size_t last) {
    Stretch stretch{.first = first, .last = last, .split = first};
    if (last - first < 2 * least_side) { return stretch; }
    std::vector<double> const ranks = centred_ranks(values.subspan(first, last - first));
    double const squares = std::inner_product(ranks.begin(), ranks.end(), ranks.begin(), 0.0);
    double sum = 0.0, greatest = 0.0;
    for (std::size_t i = 0; i + least_side < ranks.size(); ++i) {
        sum += ranks[i];
        if (i + 1 >= least_side && std::abs(sum) > greatest) {
            greatest = std::abs(sum);
            stretch.split = first + i + 1;
        }
    }
    if (greatest > 0.0) { stretch.clearness = greatest / std::sqrt(squares); }
    return stretch;
}

/// Binary segmentation: the clearest split of all stretches, one after the other.
std::vector<std::size_t> splits_of(std::span<double const> values, double significance) {
    std::vector<Stretch> stretches{clearest(values, 0, values.size())};
    std::vector<std::size_t> splits;
    while (splits.size() < most_looked_for) {
        auto const found = std::ranges::max_element(stretches, {}, &Stretch::clearness);
        if (beyond_brownian_bridge(found->clearness) > significance) { break; }
        Stretch const halved = *found;
        splits.push_back(halved.split);
        *found = clearest(values, halved.first, halved.split);
        stretches.push_back(clearest(values, halved.split, halved.last));
    }
    return splits;
}

/// Number of blocks that carry as much information as one independent block, from ranks within each level. Levels that
/// were removed, placed where they fit best, make the residuals look more independent than they are.
double run_within(std::span<double const> values, std::vector<Stretch> const& stretches) {
    std::vector<double> all;
    std::size_t first = 0;
    auto const add = [&](std::size_t last) {
        std::size_t const size = last - first;
        for (double const rank : centred_ranks(values.subspan(first, size))) {
            all.push_back(rank / static_cast<double>(size));
        }
        first = last;
    };
    for (Stretch const& stretch : stretches) { add(stretch.split); }
    add(values.size());
    double const lost = 1.0 + 2.0 * static_cast<double>(stretches.size()), n = static_cast<double>(all.size());
    double const next = correlation(all, 0.0, 1);
    double const likeness = std::clamp(next + lost * (1.0 + 3.0 * next) / n, 0.0, most_likeness);
    return std::max(correlated_run(all, 0.0, lost), (1.0 + likeness) / (1.0 - likeness));
}

/// A set of changes, each looked at between its neighbours.
struct Levels {
    std::vector<Stretch> stretches;
    std::vector<double> probabilities; ///< after correction for as many as there are
    bool hold = false;                 ///< every one of them
};

Levels levels_of(std::span<double const> values, std::vector<std::size_t> splits, double significance) {
    Levels levels;
    std::ranges::sort(splits);
    for (std::size_t i = 0; i < splits.size(); ++i) {
        std::size_t const first = i == 0 ? 0 : levels.stretches.back().split;
        levels.stretches.push_back(clearest(values, first, i + 1 == splits.size() ? values.size() : splits[i + 1]));
    }
    double const run = run_within(values, levels.stretches), count = static_cast<double>(splits.size());
    levels.hold = static_cast<double>(values.size()) / run >= least_worth * (count + 1.0);
    for (Stretch const& stretch : levels.stretches) {
        double const probability = std::min(1.0, count * beyond_brownian_bridge(stretch.clearness / std::sqrt(run)));
        levels.hold = levels.hold && probability <= significance;
        levels.probabilities.push_back(probability);
    }
    return levels;
}

/// The most changes, the clearest first, that all hold: one alone need not where the level comes back to what it was.
Levels most_that_hold(std::span<double const> values, double significance) {
    std::vector<std::size_t> const splits = splits_of(values, significance);
    Levels best;
    for (std::size_t count = 1; count <= splits.size(); ++count) {
        auto levels =
            levels_of(values, {splits.begin(), splits.begin() + static_cast<std::ptrdiff_t>(count)}, significance);
        if (levels.hold) { best = std::move(levels); }
    }
    return best;
}

double median_between(std::span<double const> values, std::size_t first, std::size_t last) {
    return median_of(in_order(values.subspan(first, last - first)));
}

/// Where blocks go over from one level to the other: ranks of a short level among those of a long one find that there is
/// a change better than where.
std::size_t placed(std::span<double const> values, Stretch const& stretch) {
    double const before = median_between(values, stretch.first, stretch.split);
    double const after = median_between(values, stretch.split, stretch.last);
    double off = 0.0, least = 0.0; // by how much more the blocks up to here are off the first level than off the second
    std::size_t split = stretch.first;
    for (std::size_t i = stretch.first; i < stretch.last; ++i) {
        off += std::abs(values[i] - before) - std::abs(values[i] - after);
        if (off < least) {
            least = off;
            split = i + 1;
        }
    }
    return split == stretch.first || split == stretch.last ? stretch.split : split;
}

std::vector<std::size_t> placed(std::span<double const> values, std::vector<Stretch> const& stretches) {
    std::vector<std::size_t> splits, as_found;
    for (Stretch const& stretch : stretches) {
        splits.push_back(placed(values, stretch));
        as_found.push_back(stretch.split);
    }
    bool const rise = std::ranges::adjacent_find(splits, std::ranges::greater_equal{}) == splits.end();
    return rise ? splits : as_found;
}

/// Mean of all samples in these blocks.
double mean_between(std::span<DigestBlock const> blocks, std::size_t first, std::size_t last) {
    double sum = 0.0, count = 0.0;
    for (DigestBlock const& block : blocks.subspan(first, last - first)) {
        auto const size = static_cast<double>(block.count);
        sum += size * block.mean;
        count += size;
    }
    return count > 0.0 ? sum / count : 0.0;
}

} // namespace

std::vector<ChangePoint> find_changes(std::span<DigestBlock const> blocks, double significance) {
    if (!(significance > 0.0 && significance < 1.0)) {
        refuse("significance", "it lies between 0 and 1", {}, "give 0.01");
    }
    std::vector<double> levels(blocks.size());
    // means, which are the same however blocks came together; the median of a joined one is not that of its samples
    std::ranges::transform(blocks, levels.begin(), &DigestBlock::mean);
    Levels const found = most_that_hold(levels, significance);
    std::vector<std::size_t> const splits = placed(levels, found.stretches);
    std::vector<ChangePoint> changes;
    for (std::size_t i = 0; i < splits.size(); ++i) {
        std::size_t const first = i == 0 ? 0 : splits[i - 1];
        std::size_t const last = i + 1 == splits.size() ? levels.size() : splits[i + 1];
        changes.push_back({.block = splits[i],
                           .at = blocks[splits[i]].start,
                           .before = mean_between(blocks, first, splits[i]),
                           .after = mean_between(blocks, splits[i], last),
                           .probability = found.probabilities[i]});
    }
    return changes;
}

} // namespace headroom::serving
