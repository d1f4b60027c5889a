#include "trace/answer.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace headroom::trace {
namespace {

constexpr double longer_compute = 0.05;

/// Of n ranks each comes last in 1/n of the collectives; of two, one that is last in half of them is none.
double remarkable_share(std::size_t ranks) {
    double const fair = 1.0 / static_cast<double>(ranks);
    return std::min(2.0 * fair, (1.0 + fair) / 2.0);
}

void add_late(CollectiveAnswer const& collectives, std::vector<Straggler>& stragglers) {
    std::int64_t all = 0;
    for (auto const& waiting : collectives.waiting) { all += waiting.last; }
    if (all == 0 || collectives.waiting.size() < 2) { return; }
    for (auto const& waiting : collectives.waiting) {
        double const share = static_cast<double>(waiting.last) / static_cast<double>(all);
        if (share < remarkable_share(collectives.waiting.size()) || waiting.kept_waiting <= 0) { continue; }
        auto const why =
            "arrives last in " + std::to_string(waiting.last) + " of " + std::to_string(all) + " collectives";
        stragglers.push_back({waiting.rank, why, share, waiting.kept_waiting});
    }
}

/// A table of totals has no extent: one rank's may cover more of its run than another's.
bool tells_pace(RankDigest const& rank) { return rank.breakdown.whole.compute > 0 && !rank.breakdown.only_sums; }

void add_slow(std::vector<RankDigest> const& ranks, std::vector<Straggler>& stragglers) {
    std::vector<Ticks> compute;
    for (auto const& rank : ranks) {
        if (tells_pace(rank)) { compute.push_back(rank.breakdown.whole.compute); }
    }
    if (compute.size() < 2) { return; }
    auto const middle = compute.begin() + static_cast<std::ptrdiff_t>((compute.size() - 1) / 2); // of two the faster
    std::nth_element(compute.begin(), middle, compute.end());
    auto const median = *middle;
    for (auto const& rank : ranks) {
        if (!tells_pace(rank)) { continue; }
        auto const excess = rank.breakdown.whole.compute - median;
        double const share = static_cast<double>(excess) / static_cast<double>(median);
        if (share < longer_compute) { continue; }
        auto const why = "computes " + std::to_string(std::lround(100.0 * share)) + " % longer than the median";
        stragglers.push_back({rank.rank, why, share, excess});
    }
}

} // namespace

std::vector<Straggler> stragglers_of(std::vector<RankDigest> const& ranks, CollectiveAnswer const& collectives) {
    std::vector<Straggler> stragglers;
    add_late(collectives, stragglers);
    add_slow(ranks, stragglers);
    std::stable_sort(stragglers.begin(), stragglers.end(),
                     [](auto const& a, auto const& b) { return a.cost != b.cost ? a.cost > b.cost : a.rank < b.rank; });
    return stragglers;
}

} // namespace headroom::trace
