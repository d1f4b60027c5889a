#include "trace/begin_order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace headroom::trace {
namespace {

constexpr int digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;
constexpr std::size_t few = 512; ///< below this a comparison sort is faster than counting digits

/// An interval by how long after the first one it begins.
struct BeginKey {
    std::uint64_t after = 0;
    std::uint32_t interval = 0;
};

std::uint64_t digit_of(BeginKey const& key, int shift) { return (key.after >> shift) & (digits - 1); }

/// One stable pass over one digit.
void scatter(std::vector<BeginKey> const& from, std::vector<BeginKey>& to, int shift) {
    std::array<std::uint32_t, digits> place{};
    for (auto const& key : from) { ++place[digit_of(key, shift)]; }
    std::uint32_t sum = 0;
    for (auto& count : place) { sum += std::exchange(count, sum); }
    for (auto const& key : from) { to[place[digit_of(key, shift)]++] = key; }
}

} // namespace

void order_by_begin(std::vector<std::uint32_t>& intervals, std::span<std::int64_t const> begin) {
    auto const earlier = [&](std::uint32_t a, std::uint32_t b) { return begin[a] < begin[b]; };
    if (std::is_sorted(intervals.begin(), intervals.end(), earlier)) { return; }
    if (intervals.size() < few) {
        std::stable_sort(intervals.begin(), intervals.end(), earlier);
        return;
    }
    auto const first =
        static_cast<std::uint64_t>(begin[*std::min_element(intervals.begin(), intervals.end(), earlier)]);
    std::vector<BeginKey> keys(intervals.size()), sorted(intervals.size());
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        keys[i] = {static_cast<std::uint64_t>(begin[intervals[i]]) - first, intervals[i]};
        most = std::max(most, keys[i].after);
    }
    for (int shift = 0; shift < 64 && (most >> shift) != 0; shift += digit_bits) {
        scatter(keys, sorted, shift);
        keys.swap(sorted);
    }
    std::transform(keys.begin(), keys.end(), intervals.begin(), [](auto const& key) { return key.interval; });
}

} // namespace headroom::trace
