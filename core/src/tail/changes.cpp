#include "statistics/correlation.hpp"
#include "statistics/kolmogorov.hpp"
#include "statistics/sample_values.hpp"

#include "headroom/error.hpp"
#include "headroom/latency_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace headroom {
namespace {

constexpr std::size_t least_side = 4;  ///< blocks on either side of a change
constexpr double least_worth = 12.0;   ///< independent blocks; with fewer nothing is called a change
constexpr double lost_to_levels = 3.0; ///< two levels and the best place between them were taken from the ranks

/// Blocks from `first` to before `last`, and where they fall apart most clearly.
struct Stretch {
    std::size_t first = 0, last = 0;
    std::size_t split = 0;    ///< the first of its second part
    double probability = 1.0; ///< of a split as clear where there is none
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

/// How many blocks say as much as an independent one once both sides have their own level.
double run_beside(std::vector<double> ranks, std::size_t split, double sum_before) {
    double const before = static_cast<double>(split), after = static_cast<double>(ranks.size() - split);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        ranks[i] -= i < split ? sum_before / before : -sum_before / after;
    }
    return correlated_run(ranks, 0.0, lost_to_levels);
}

/// Pettitt's test: the sum of ranks up to each block, which for blocks in random order is a Brownian bridge.
Stretch clearest(std::span<double const> values, std::size_t first, std::size_t last) {
    Stretch stretch{.first = first, .last = last, .split = first};
    if (last - first < 2 * least_side) { return stretch; }
    std::vector<double> const ranks = centred_ranks(values.subspan(first, last - first));
    double const n = static_cast<double>(ranks.size());
    double const squares = std::inner_product(ranks.begin(), ranks.end(), ranks.begin(), 0.0);
    if (squares == 0.0) { return stretch; }
    double sum = 0.0, greatest = 0.0;
    std::size_t split = least_side;
    for (std::size_t i = 0; i + least_side < ranks.size(); ++i) {
        sum += ranks[i];
        if (i + 1 >= least_side && std::abs(sum) > std::abs(greatest)) {
            greatest = sum;
            split = i + 1;
        }
    }
    stretch.split = first + split;
    double const run = run_beside(ranks, split, greatest);
    if (n / run < least_worth) { return stretch; }
    stretch.probability = beyond_brownian_bridge(std::abs(greatest) / std::sqrt(squares * run));
    return stretch;
}

/// Binary segmentation: the clearest split of all stretches, as long as it is clear for the number looked at.
std::vector<std::size_t> splits_of(std::span<double const> values, double significance) {
    std::vector<Stretch> stretches{clearest(values, 0, values.size())};
    std::vector<std::size_t> splits;
    while (true) {
        auto const found = std::ranges::min_element(stretches, {}, &Stretch::probability);
        if (!(found->probability * static_cast<double>(stretches.size()) <= significance)) { break; }
        Stretch const halved = *found;
        splits.push_back(halved.split);
        *found = clearest(values, halved.first, halved.split);
        stretches.push_back(clearest(values, halved.split, halved.last));
    }
    std::ranges::sort(splits);
    return splits;
}

/// Each split looked at again between the ones beside it, which were not known yet when it was found.
std::vector<Stretch> looked_at_again(std::span<double const> values, std::vector<std::size_t> splits,
                                     double significance) {
    std::vector<Stretch> again;
    while (!splits.empty()) {
        again.clear();
        for (std::size_t i = 0; i < splits.size(); ++i) {
            std::size_t const first = i == 0 ? 0 : again.back().split;
            std::size_t const last = i + 1 == splits.size() ? values.size() : splits[i + 1];
            again.push_back(clearest(values, first, last));
            again.back().probability = std::min(1.0, again.back().probability * static_cast<double>(splits.size()));
        }
        auto const worst = std::ranges::max_element(again, {}, &Stretch::probability);
        if (worst->probability <= significance) { break; }
        splits.clear();
        for (auto at = again.begin(); at != again.end(); ++at) {
            if (at != worst) { splits.push_back(at->split); }
        }
        again.clear();
    }
    return again;
}

double median_between(std::span<double const> values, std::size_t first, std::size_t last) {
    return median_of(in_order(values.subspan(first, last - first)));
}

} // namespace

std::vector<ChangePoint> find_changes(std::span<DigestBlock const> blocks, double significance) {
    if (!(significance > 0.0 && significance < 1.0)) {
        throw InputError{Fault::usage,
                         {.where = "significance", .problem = "it lies between 0 and 1", .hint = "give 0.01"}};
    }
    std::vector<double> levels(blocks.size());
    std::ranges::transform(blocks, levels.begin(), &DigestBlock::median);
    std::vector<Stretch> const found = looked_at_again(levels, splits_of(levels, significance), significance);
    std::vector<ChangePoint> changes;
    for (std::size_t i = 0; i < found.size(); ++i) {
        std::size_t const first = i == 0 ? 0 : found[i - 1].split, split = found[i].split;
        std::size_t const last = i + 1 == found.size() ? levels.size() : found[i + 1].split;
        changes.push_back({.block = split,
                           .at = blocks[split].start,
                           .before = median_between(levels, first, split),
                           .after = median_between(levels, split, last),
                           .probability = found[i].probability});
    }
    return changes;
}

} // namespace headroom
