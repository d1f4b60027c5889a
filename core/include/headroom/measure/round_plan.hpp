#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headroom::measure {

/// Time of one repetition of a point.
struct PointCost {
    double seconds = 0.0;
    bool essential = false; ///< others are left out before it
};

/// Points that fit into a time, and repetitions of each.
struct RoundPlan {
    std::uint32_t repetitions = 0;
    std::vector<bool> taken; ///< by point
};

/// As many rounds of all points as fit into `seconds`, `most` at most. Where fewer than `least` fit, the costliest points are
/// left out one by one, those that are not essential first.
RoundPlan plan_rounds(std::span<PointCost const> costs, double seconds, std::uint32_t least, std::uint32_t most);

} // namespace headroom::measure
