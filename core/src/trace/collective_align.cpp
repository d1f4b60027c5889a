#include "collective_align.hpp"

#include "wide_time.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace headroom {
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

/// Median distance of the differences of ends from their median: small where the right ones meet.
std::int64_t spread_of(CollectiveTrack const& reference, CollectiveTrack const& other, Overlap const& at) {
    std::vector<std::int64_t> differences;
    std::int64_t const taken = std::min(at.count, samples);
    for (std::int64_t i = 0; i < taken; ++i) {
        std::int64_t const k = i * at.count / taken;
        differences.push_back(wide_difference(other.end[static_cast<std::size_t>(at.in_other + k)],
                                              reference.end[static_cast<std::size_t>(at.in_reference + k)]));
    }
    return median_and_spread(differences).spread;
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

/// One track as a piece of the other, told by these hashes.
std::optional<std::vector<std::int32_t>> as_piece(CollectiveTrack const& reference, CollectiveTrack const& other,
                                                  std::vector<std::uint64_t> const& a,
                                                  std::vector<std::uint64_t> const& b) {
    auto const all = places(a, b);
    if (all.empty()) { return {}; }
    // The one that takes in most, of those the one at the end.
    auto const usual = *std::ranges::max_element(all, [](Overlap const& one, Overlap const& two) {
        return std::pair(one.count, one.shift) < std::pair(two.count, two.shift);
    });
    if (usual.count < static_cast<std::int64_t>(std::min(a.size(), b.size()))) {
        // Both stick out: only ends can say so, and three of them at least.
        if (usual.count < 3) { return {}; }
    }
    return laid_at(best_place(reference, other, all, usual), b.size());
}

std::size_t matched_of(std::vector<std::int32_t> const& partners) {
    return partners.size() - static_cast<std::size_t>(std::ranges::count(partners, no_partner));
}

} // namespace

std::vector<std::int32_t> partners_in(CollectiveTrack const& reference, CollectiveTrack const& other) {
    if (reference.call == other.call) {
        auto const n = static_cast<std::int64_t>(other.call.size());
        auto const straight = overlap_at(0, n, n);
        if (n < 4 || spread_of(reference, other, straight) <= half_a_period(reference.end)) {
            return laid_at(straight, other.call.size());
        }
        return laid_at(best_place(reference, other, places(reference.call, other.call), straight), other.call.size());
    }
    if (auto piece = as_piece(reference, other, reference.call, other.call)) { return *piece; }
    auto by_call = common_subsequence(reference.call, other.call, edit_limit);
    std::size_t const shorter = std::min(reference.call.size(), other.call.size());
    if (matched_of(by_call) * 10 >= shorter * 9) { return by_call; }
    if (auto piece = as_piece(reference, other, reference.name, other.name)) { return *piece; }
    auto by_name = common_subsequence(reference.name, other.name, edit_limit);
    return matched_of(by_name) > matched_of(by_call) ? by_name : by_call;
}

namespace {

/// Furthest positions on each diagonal after each number of edits, to walk back on.
class EditPaths {
public:
    EditPaths(std::vector<std::uint64_t> const& a, std::vector<std::uint64_t> const& b, std::int32_t skip,
              std::int32_t n, std::int32_t m)
        : a_(a), b_(b), skip_(skip), n_(n), m_(m) {}

    /// Pairs on a longest common subsequence, into `result`; false where it takes more edits than allowed.
    bool find(std::int32_t most, std::vector<std::int32_t>& result) {
        std::vector<std::int32_t> before{0};
        for (std::int32_t edits = 0; edits <= most; ++edits) {
            std::vector<std::int32_t> reach(2 * static_cast<std::size_t>(edits) + 1);
            for (std::int32_t k = -edits; k <= edits; k += 2) {
                std::int32_t x = edits == 0 ? 0 : entry(before, edits, k).x;
                while (x < n_ && x - k < m_ && x - k >= 0 && same(x, x - k)) { ++x; }
                reach[index(k, edits)] = x;
                if (x >= n_ && x - k >= m_) {
                    walk_back(edits, k, x, result);
                    return true;
                }
            }
            history_.push_back(reach);
            before = std::move(reach);
        }
        return false;
    }

private:
    struct Entry {
        std::int32_t x, diagonal;
    };
    static std::size_t index(std::int32_t k, std::int32_t edits) { return static_cast<std::size_t>(k + edits); }
    [[nodiscard]] bool same(std::int32_t x, std::int32_t y) const {
        return a_[static_cast<std::size_t>(skip_ + x)] == b_[static_cast<std::size_t>(skip_ + y)];
    }
    /// Where diagonal k is entered with one edit more than `before` has.
    static Entry entry(std::vector<std::int32_t> const& before, std::int32_t edits, std::int32_t k) {
        std::int32_t const last = edits - 1;
        bool const down = k == -edits || (k != edits && before[index(k - 1, last)] < before[index(k + 1, last)]);
        return down ? Entry{before[index(k + 1, last)], k + 1} : Entry{before[index(k - 1, last)] + 1, k - 1};
    }
    void walk_back(std::int32_t edits, std::int32_t k, std::int32_t x, std::vector<std::int32_t>& result) const {
        for (;; --edits) {
            Entry const from =
                edits == 0 ? Entry{0, 0} : entry(history_[static_cast<std::size_t>(edits - 1)], edits, k);
            while (x > from.x) {
                --x;
                result[static_cast<std::size_t>(skip_ + x - k)] = skip_ + x;
            }
            if (edits == 0) { return; }
            // A step to the right left its own element behind.
            x = from.diagonal < k ? from.x - 1 : from.x;
            k = from.diagonal;
        }
    }

    std::vector<std::uint64_t> const &a_, &b_;
    std::int32_t skip_, n_, m_;
    std::vector<std::vector<std::int32_t>> history_;
};

} // namespace

std::vector<std::int32_t> common_subsequence(std::vector<std::uint64_t> const& a, std::vector<std::uint64_t> const& b,
                                             std::int32_t most_edits) {
    std::vector<std::int32_t> result(b.size(), no_partner);
    std::size_t first = 0, last = 0;
    std::size_t const shorter = std::min(a.size(), b.size());
    while (first < shorter && a[first] == b[first]) { ++first; }
    while (last < shorter - first && a[a.size() - 1 - last] == b[b.size() - 1 - last]) { ++last; }
    for (std::size_t i = 0; i < first; ++i) { result[i] = static_cast<std::int32_t>(i); }
    for (std::size_t i = 1; i <= last; ++i) { result[b.size() - i] = static_cast<std::int32_t>(a.size() - i); }
    auto const middle_a = static_cast<std::int32_t>(a.size() - first - last);
    auto const middle_b = static_cast<std::int32_t>(b.size() - first - last);
    EditPaths(a, b, static_cast<std::int32_t>(first), middle_a, middle_b).find(most_edits, result);
    return result;
}

} // namespace headroom
