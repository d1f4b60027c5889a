#include "collective_align.hpp"

namespace headroom::trace {
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

} // namespace headroom::trace
