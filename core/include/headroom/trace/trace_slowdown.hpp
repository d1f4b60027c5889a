#pragma once

#include "headroom/trace/rank_trace.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headroom::trace {

/// Durations in seconds, by their sums.
struct DurationSums {
    std::int64_t count = 0;
    double sum = 0.0, squares = 0.0;
    void add(double seconds) { ++count, sum += seconds, squares += seconds * seconds; }
    [[nodiscard]] double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0.0; }
    /// Variance of one duration; 0 below two.
    [[nodiscard]] double variance() const;
};

/// One kernel at one place in the order of a stream, with and without communication at the same time.
struct KernelBeside {
    std::string name;
    DurationSums alone;  ///< runs without any communication under way
    DurationSums beside; ///< runs that communication covers for 90 % of their time or more
};

/// Computing kernels of a device that ran both ways, by name. Runs are of the same kernel where the kernels before and
/// after it on its stream are the same too: one name may stand for work of several shapes, one place in a layer does not.
/// A run that another computing kernel overlaps, or that communication covers in part, counts on neither side.
/// Empty for traces without a device or without times. O(n log n).
std::vector<KernelBeside> kernels_beside_communication(RankTrace const& trace);

} // namespace headroom::trace
