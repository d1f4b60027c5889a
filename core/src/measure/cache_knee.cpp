#include "headroom/measure/cache_knee.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::measure {

std::optional<std::uint64_t> cache_knee(std::span<LoadLatency const> rising) {
    constexpr double least_rise = 1.5;
    if (rising.size() < 2) { return {}; }
    double const first = rising.front().seconds;
    double const last = std::ranges::max_element(rising, {}, &LoadLatency::seconds)->seconds;
    if (!(first > 0.0) || last < least_rise * first) { return {}; }
    double const between = std::sqrt(first * last);
    std::uint64_t knee = rising.front().bytes;
    for (LoadLatency const& one : rising) {
        if (one.seconds <= between) { knee = std::max(knee, one.bytes); } // other work makes loads slower, never faster
    }
    return knee;
}

} // namespace headroom::measure
