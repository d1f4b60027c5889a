#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace headroom::measure {

/// Time of one dependent load in a working set of so many bytes.
struct LoadLatency {
    std::uint64_t bytes = 0;
    double seconds = 0.0;
};

/// Knee of a pointer chase: the largest working set whose loads still come from the last cache.
///
///     knee = largest n with t(n) <= sqrt(t(n_1) t(n_k)),   n_1 < ... < n_k
///
/// Empty where the slowest set is less than 1.5 times as slow as the first: all of them are in one level.
/// Assumes:    the first set is in the last cache, and latencies rise with the size but for noise.
/// Source:     [SaavedraSmith1995]
std::optional<std::uint64_t> cache_knee(std::span<LoadLatency const> rising);

} // namespace headroom::measure
