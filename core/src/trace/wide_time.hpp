#pragma once

#include "headroom/laws/dag.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace headroom::trace {

/// Arithmetic on moments of damaged traces, which may lie anywhere: what does not fit stays at the limit.
inline std::int64_t wide_sum(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (!__builtin_add_overflow(a, b, &result)) { return result; }
    return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}
inline std::int64_t wide_difference(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (!__builtin_sub_overflow(a, b, &result)) { return result; }
    return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

/// The lower median of values and the lower median of their distances from it. Changes the values.
struct MedianAndSpread {
    std::int64_t median = 0, spread = 0;
};
inline std::int64_t lower_median(std::span<std::int64_t> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}
inline MedianAndSpread median_and_spread(std::vector<std::int64_t>& values) {
    if (values.empty()) { return {}; }
    std::int64_t const median = lower_median(values);
    for (auto& value : values) {
        std::int64_t const distance = wide_difference(value, median);
        value = distance < 0 ? wide_difference(0, distance) : distance;
    }
    return {median, lower_median(values)};
}

} // namespace headroom::trace
