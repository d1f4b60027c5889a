#include "segments.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::network::algorithms {

std::uint32_t best_segments(double fill, Bytes size, Seconds hop, Seconds alpha) {
    double const work = fill * hop.base();
    if (!(work > 0.0) || !(size.base() >= 2.0)) { return 1; }
    auto const most = static_cast<std::uint32_t>(std::min(size.base(), static_cast<double>(most_segments)));
    double const square = work / alpha.base(); // no alpha: as many as there may be
    double const best = std::sqrt(square);
    if (!(best < most)) { return most; }
    auto const below = static_cast<std::uint32_t>(best);
    return square <= static_cast<double>(below) * (below + 1.0) ? std::max(below, 1U) : below + 1;
}

} // namespace headroom::network::algorithms
