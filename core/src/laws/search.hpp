#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

/// Whole counts of workers, found by halving.
namespace headroom::laws {

inline constexpr double tie_slack = 1e-12; ///< relative; a tie in exact numbers must not be lost to rounding
inline constexpr std::int64_t largest_count = 9'000'000'000'000'000; ///< each whole number below is a double

/// The smallest K from 1 to `last` where `holds` is true, once true for all larger ones; empty when it never is.
template <class Predicate>
std::optional<std::int64_t> first_where(Predicate const& holds, std::int64_t last = largest_count) {
    if (!holds(static_cast<double>(last))) { return std::nullopt; }
    std::int64_t low = 0, high = last; // not at low, at high
    while (high - low > 1) {
        std::int64_t const middle = low + (high - low) / 2;
        (holds(static_cast<double>(middle)) ? high : low) = middle;
    }
    return high;
}

/// The largest K whose efficiency, which falls with K, is at least `share`; ties count. Empty where none has it, or all do.
template <class Efficiency> std::optional<std::int64_t> largest_efficient(double share, Efficiency const& efficiency) {
    auto const first = first_where([&](double k) { return efficiency(k) < share * (1.0 - tie_slack); });
    return first && *first > 1 ? std::optional{*first - 1} : std::nullopt;
}

/// The smallest whole count of at least `count`, ties kept; empty when it does not fit.
inline std::optional<std::int64_t> smallest_whole_at_least(double count) {
    if (!(count < static_cast<double>(largest_count))) { return std::nullopt; }
    return static_cast<std::int64_t>(std::ceil(std::fmax(1.0, count * (1.0 - tie_slack))));
}

} // namespace headroom::laws
