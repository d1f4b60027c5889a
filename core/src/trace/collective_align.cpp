#include "collective_align.hpp"

#include "wide_time.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace headroom::trace {
namespace {

constexpr std::int64_t most_places = 4096;
constexpr std::int32_t edit_limit = 1024;
constexpr std::int64_t samples = 64;

/// Hashes of all beginnings, so that two pieces compare in constant time.
class PieceHashes {
public:
    explicit PieceHashes(std::vector<std::uint64_t> const& values)
        : sum_(values.size() + 1), power_(values.size() + 1) {
        power_[0] = 1;
        for (std::size_t i = 0; i < values.size(); ++i) {
            sum_[i + 1] = sum_[i] * base + (values[i] ^ (values[i] >> 29));
            power_[i + 1] = power_[i] * base;
        }
    }
    [[nodiscard]] std::uint64_t of(std::int64_t from, std::int64_t count) const {
        auto const begin = static_cast<std::size_t>(from), end = static_cast<std::size_t>(from + count);
        return sum_[end] - sum_[begin] * power_[end - begin];
    }

private:
    static constexpr std::uint64_t base = 0x9e3779b97f4a7c15ULL;
    std::vector<std::uint64_t> sum_, power_;
};

/// `other` laid at `shift` positions after the begin of `reference`; both may stick out.
struct Overlap {
    std::int64_t shift, in_reference, in_other, count;
};
Overlap overlap_at(std::int64_t shift, std::int64_t reference, std::int64_t other) {
    std::int64_t const from = std::max<std::int64_t>(shift, 0);
    std::int64_t const to = std::min(reference, shift + other);
    return {shift, from, from - shift, std::max<std::int64_t>(to - from, 0)};
}

/// Differences of ends, over a sample.
std::vector<std::int64_t> end_differences(CollectiveTrack const& reference, CollectiveTrack const& other,
                                          Overlap const& at) {
    std::vector<std::int64_t> differences;
    std::int64_t const taken = std::min(at.count, samples);
    for (std::int64_t i = 0; i < taken; ++i) {
        std::int64_t const k = i * at.count / taken;
        differences.push_back(wide_difference(other.end[static_cast<std::size_t>(at.in_other + k)],
                                              reference.end[static_cast<std::size_t>(at.in_reference + k)]));
    }
    return differences;
}

/// Median distance of the differences of ends from their median: small where the right ones meet.
std::int64_t spread_of(CollectiveTrack const& reference, CollectiveTrack const& other, Overlap const& at) {
    auto differences = end_differences(reference, other, at);
    return median_and_spread(differences).spread;
}

/// Difference of the clocks of both ranks: the median over a sample.
std::int64_t clock_difference(CollectiveTrack const& reference, CollectiveTrack const& other, Overlap const& at) {
    auto differences = end_differences(reference, other, at);
    std::int64_t const median = differences.empty() ? 0 : lower_median(differences);
    std::int64_t const difference = wide_sum(median, wide_difference(other.epoch, reference.epoch));
    return difference < 0 ? wide_difference(0, difference) : difference;
}

std::vector<std::int32_t> laid_at(Overlap const& at, std::size_t size) {
    std::vector<std::int32_t> result(size, no_partner);
    for (std::int64_t k = 0; k < at.count; ++k) {
        result[static_cast<std::size_t>(at.in_other + k)] = static_cast<std::int32_t>(at.in_reference + k);
    }
    return result;
}

/// All places at which everything in the overlap is equal, of at least half of the shorter track and three long.
std::vector<Overlap> places(std::vector<std::uint64_t> const& a, std::vector<std::uint64_t> const& b) {
    auto const n = static_cast<std::int64_t>(a.size()), m = static_cast<std::int64_t>(b.size());
    std::int64_t const least = std::max(std::min<std::int64_t>({3, n, m}), (std::min(n, m) + 1) / 2);
    // In the middle between "at the begin" and "at the end", and as many to both sides.
    std::int64_t const from = std::max(std::min<std::int64_t>(0, n - m) - most_places / 2, least - m);
    std::int64_t const to = std::min(std::max<std::int64_t>(0, n - m) + most_places / 2, n - least);
    PieceHashes const in_a(a), in_b(b);
    std::vector<Overlap> result;
    for (std::int64_t shift = from; shift <= to && shift - from < 2 * most_places; ++shift) {
        auto const at = overlap_at(shift, n, m);
        if (in_a.of(at.in_reference, at.count) == in_b.of(at.in_other, at.count)) { result.push_back(at); }
    }
    return result;
}

/// The place where ends agree best; the usual one, unless another is better by far.
Overlap best_place(CollectiveTrack const& reference, CollectiveTrack const& other, std::vector<Overlap> const& all,
                   Overlap const& usual) {
    constexpr std::int64_t by_far = 4;
    Overlap best = usual;
    std::int64_t const usual_spread = spread_of(reference, other, usual);
    std::int64_t best_spread = usual_spread;
    for (Overlap const& at : all) {
        std::int64_t const spread = at.count >= 3 ? spread_of(reference, other, at) : usual_spread;
        if (spread < best_spread && spread < usual_spread / by_far) {
            best = at;
            best_spread = spread;
        }
    }
    return best;
}

/// Half of the usual time between ends: clocks and waiting move ends less than that, another collective is further.
std::int64_t half_a_period(std::vector<Ticks> const& end) {
    if (end.size() < 2) { return std::numeric_limits<std::int64_t>::max(); }
    std::vector<std::int64_t> gaps;
    for (std::size_t i = 1; i < end.size(); ++i) { gaps.push_back(wide_difference(end[i], end[i - 1])); }
    return median_and_spread(gaps).median / 2;
}

/// One track as a part of the other, by these hashes.
std::optional<std::vector<std::int32_t>> as_piece(CollectiveTrack const& reference, CollectiveTrack const& other,
                                                  std::vector<std::uint64_t> const& a,
                                                  std::vector<std::uint64_t> const& b) {
    auto const all = places(a, b);
    if (all.empty()) { return {}; }
    // Take the shift with the most pairs at which clocks differ least.
    auto const most = std::ranges::max(all, {}, &Overlap::count).count;
    auto usual = all.front();
    std::optional<std::int64_t> least;
    for (Overlap const& at : all) {
        if (at.count != most) { continue; }
        std::int64_t const difference = clock_difference(reference, other, at);
        if (least && difference > *least) { continue; }
        least = difference;
        usual = at;
    }
    if (usual.count < static_cast<std::int64_t>(std::min(a.size(), b.size()))) {
        // Both stick out: only ends can say so, and three of them at least.
        if (usual.count < 3) { return {}; }
    }
    return laid_at(best_place(reference, other, all, usual), b.size());
}

std::size_t matched_of(std::vector<std::int32_t> const& partners) {
    return partners.size() - static_cast<std::size_t>(std::ranges::count(partners, no_partner));
}

/// Differences of the ends of partners, from the smallest on.
std::vector<std::int64_t> differences_of(CollectiveTrack const& reference, CollectiveTrack const& other,
                                         std::vector<std::int32_t> const& partners) {
    std::vector<std::int64_t> differences;
    for (std::size_t k = 0; k < partners.size(); ++k) {
        if (partners[k] == no_partner) { continue; }
        differences.push_back(wide_difference(other.end[k], reference.end[static_cast<std::size_t>(partners[k])]));
    }
    std::ranges::sort(differences);
    return differences;
}

/// Largest distance of the sorted values from their middle one.
std::int64_t reach_of(std::vector<std::int64_t> const& sorted) {
    if (sorted.empty()) { return 0; }
    std::int64_t const middle = sorted[(sorted.size() - 1) / 2];
    return std::max(wide_difference(sorted.back(), middle), wide_difference(middle, sorted.front()));
}

/// The middle of those `count` sorted values that lie closest together.
std::int64_t densest_of(std::vector<std::int64_t> const& sorted, std::size_t count) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + count <= sorted.size(); ++i) {
        bool const closer =
            wide_difference(sorted[i + count - 1], sorted[i]) < wide_difference(sorted[best + count - 1], sorted[best]);
        best = closer ? i : best;
    }
    return sorted[best + count / 2];
}

/// Partners whose ends lie together once the clocks are `offset` apart, in order: of equal calls the nearest, within `reach`.
std::vector<std::int32_t> at_the_same_time(CollectiveTrack const& reference, CollectiveTrack const& other,
                                           std::int64_t offset, std::int64_t reach) {
    std::vector<std::int32_t> result(other.end.size(), no_partner);
    std::size_t next = 0;
    for (std::size_t k = 0; k < other.end.size(); ++k) {
        std::int64_t const end = wide_difference(other.end[k], offset);
        while (next < reference.end.size() && wide_difference(end, reference.end[next]) > reach) { ++next; }
        std::int64_t nearest = reach;
        for (std::size_t at = next; at < reference.end.size(); ++at) {
            std::int64_t const after = wide_difference(reference.end[at], end);
            if (after > nearest) { break; }
            std::int64_t const distance = after < 0 ? wide_difference(0, after) : after;
            if (reference.call[at] != other.call[k] || distance > nearest) { continue; }
            nearest = distance;
            result[k] = static_cast<std::int32_t>(at);
            next = at + 1;
        }
    }
    return result;
}

/// A piece that lost some in its middle lies right on one side of the gap alone, and a whole collective off on the
/// other. Then time decides, with the clocks as they are in one of the stretches between gaps; the piece where that leaves
/// more out.
std::vector<std::int32_t> without_lost(CollectiveTrack const& reference, CollectiveTrack const& other,
                                       std::vector<std::int32_t> piece) {
    std::int64_t const half = half_a_period(reference.end);
    auto const n = static_cast<std::int64_t>(reference.end.size()), m = static_cast<std::int64_t>(other.end.size());
    if (m >= n || matched_of(piece) < 3 || reach_of(differences_of(reference, other, piece)) <= half) { return piece; }
    std::int64_t furthest = half;
    std::size_t const enough = matched_of(piece);
    constexpr std::int64_t most_shifts = 16;
    for (std::int64_t back = 0; back <= std::min(n - m, most_shifts); ++back) {
        auto const laid = laid_at(overlap_at(n - m - back, n, m), other.end.size());
        auto const differences = differences_of(reference, other, laid);
        std::size_t const stretch =
            differences.size() / static_cast<std::size_t>(n - m + 1); // of n - m gaps one has so many
        auto by_time =
            at_the_same_time(reference, other, densest_of(differences, std::max<std::size_t>(stretch, 1)), half);
        auto const reach = reach_of(differences_of(reference, other, by_time));
        if (matched_of(by_time) < enough || reach >= furthest) { continue; }
        furthest = reach;
        piece = std::move(by_time);
    }
    return piece;
}

/// Collectives of one step: a stretch of a track.
struct StepStretch {
    std::size_t begin = 0, end = 0;
};

/// Stretches of the steps of a track by number; empty unless steps are stated for nine collectives in ten, each in one go.
std::map<std::int64_t, StepStretch> stretches_of(CollectiveTrack const& track) {
    std::map<std::int64_t, StepStretch> steps;
    std::size_t unstated = 0;
    for (std::size_t i = 0; i < track.step.size(); ++i) {
        auto const step = track.step[i];
        if (step < 0) {
            ++unstated;
            continue;
        }
        auto const [known, is_new] = steps.try_emplace(step, StepStretch{i, i});
        if (!is_new && known->second.end != i) { return {}; }
        known->second.end = i + 1;
    }
    return unstated * 10 <= track.step.size() ? steps : std::map<std::int64_t, StepStretch>{};
}

/// Partners within steps of one number, where the tracks hold different steps.
std::optional<std::vector<std::int32_t>> by_steps(CollectiveTrack const& reference, CollectiveTrack const& other) {
    if (reference.step == other.step) { return {}; }
    auto const in_reference = stretches_of(reference), in_other = stretches_of(other);
    std::vector<std::int32_t> result(other.call.size(), no_partner);
    std::size_t matched = 0, met = 0;
    for (auto const& [step, mine] : in_other) {
        auto const same = in_reference.find(step);
        if (same == in_reference.end()) { continue; }
        auto const calls = [](CollectiveTrack const& track, StepStretch const& of) {
            return std::vector(track.call.begin() + static_cast<std::ptrdiff_t>(of.begin),
                               track.call.begin() + static_cast<std::ptrdiff_t>(of.end));
        };
        auto const partners = common_subsequence(calls(reference, same->second), calls(other, mine), edit_limit);
        for (std::size_t k = 0; k < partners.size(); ++k) {
            if (partners[k] == no_partner) { continue; }
            result[mine.begin + k] = partners[k] + static_cast<std::int32_t>(same->second.begin);
            ++matched;
        }
        met += std::min(mine.end - mine.begin, same->second.end - same->second.begin);
    }
    return met > 0 && matched * 4 >= met * 3 ? std::optional{std::move(result)} : std::nullopt;
}

} // namespace

std::vector<std::int32_t> partners_in(CollectiveTrack const& reference, CollectiveTrack const& other) {
    if (auto stepwise = by_steps(reference, other)) { return *std::move(stepwise); }
    if (reference.call == other.call) {
        auto const n = static_cast<std::int64_t>(other.call.size());
        auto const straight = overlap_at(0, n, n);
        if (n < 4 || spread_of(reference, other, straight) <= half_a_period(reference.end)) {
            return laid_at(straight, other.call.size());
        }
        return laid_at(best_place(reference, other, places(reference.call, other.call), straight), other.call.size());
    }
    if (auto piece = as_piece(reference, other, reference.call, other.call)) {
        return without_lost(reference, other, std::move(*piece));
    }
    auto by_call = common_subsequence(reference.call, other.call, edit_limit);
    std::size_t const shorter = std::min(reference.call.size(), other.call.size());
    if (matched_of(by_call) * 10 >= shorter * 9) { return by_call; }
    if (auto piece = as_piece(reference, other, reference.name, other.name)) { return *piece; }
    auto by_name = common_subsequence(reference.name, other.name, edit_limit);
    return matched_of(by_name) > matched_of(by_call) ? by_name : by_call;
}

} // namespace headroom::trace
