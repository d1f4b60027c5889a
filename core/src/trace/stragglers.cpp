#include "trace/answer.hpp"
#include "trace/wide_time.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace headroom::trace {
namespace {

constexpr double longer_compute = 0.05;

/// Share of the collectives in which a rank must come last to be a straggler. Of n ranks each comes last in 1/n of
/// them; of two, one that is last in half of them is none.
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
        stragglers.push_back(
            {waiting.rank, StragglerReason::arrives_last, share, waiting.kept_waiting, waiting.last, all});
    }
}

/// Compute time of one rank over an extent that all ranks have: the file, or a step where files hold different numbers.
struct Pace {
    std::int64_t rank = 0;
    Ticks compute = 0;
    std::int64_t times = 1;
};

/// Compute times of ranks that can be compared. A table of totals has no extent: one rank's may cover more of its run
/// than another's; and so may a file without steps next to one with them.
std::vector<Pace> paces_of(std::vector<RankDigest> const& ranks) {
    std::vector<Pace> paces;
    std::size_t least = ranks.empty() ? 0 : ranks.front().breakdown.steps.size(), most = least;
    for (auto const& rank : ranks) {
        auto const& breakdown = rank.breakdown;
        if (breakdown.whole.compute <= 0 || breakdown.only_sums) { continue; }
        paces.push_back({rank.rank, breakdown.whole.compute, 1});
        least = std::min(least, breakdown.steps.size());
        most = std::max(most, breakdown.steps.size());
    }
    if (least == most) { return paces; }
    if (least == 0) { return {}; }
    paces.clear();
    for (auto const& rank : ranks) {
        Ticks sum = 0;
        for (auto const& step : rank.breakdown.steps) { sum = wide_sum(sum, step.shares.compute); }
        auto const steps = static_cast<std::int64_t>(rank.breakdown.steps.size());
        if (sum >= steps && !rank.breakdown.only_sums) { paces.push_back({rank.rank, sum / steps, steps}); }
    }
    return paces;
}

void add_slow(std::vector<RankDigest> const& ranks, std::vector<Straggler>& stragglers) {
    auto const paces = paces_of(ranks);
    if (paces.size() < 2) { return; }
    std::vector<Ticks> compute;
    for (auto const& pace : paces) { compute.push_back(pace.compute); }
    auto const middle = compute.begin() + static_cast<std::ptrdiff_t>((compute.size() - 1) / 2); // of two the faster
    std::nth_element(compute.begin(), middle, compute.end());
    auto const median = *middle;
    for (auto const& pace : paces) {
        auto const excess = pace.compute - median;
        double const share = static_cast<double>(excess) / static_cast<double>(median);
        if (share < longer_compute) { continue; }
        stragglers.push_back({pace.rank, StragglerReason::computes_longer, share, excess * pace.times});
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

namespace headroom::trace {

std::string words_of(Straggler const& straggler) {
    if (straggler.reason == StragglerReason::computes_longer) {
        return "computes " + std::to_string(std::lround(100.0 * straggler.share)) + " % longer than the median";
    }
    return "arrives last in " + std::to_string(straggler.last) + " of " + std::to_string(straggler.collectives) +
           " collectives";
}

} // namespace headroom::trace
