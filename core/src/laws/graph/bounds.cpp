#include "headroom/laws/dag.hpp"

#include <algorithm>
#include <bit>

namespace headroom::laws {

double lower_bound(Ticks work, Ticks depth, double workers) {
    return std::max(static_cast<double>(work) / workers, static_cast<double>(depth));
}

double brent_bound(Ticks work, Ticks depth, double workers) {
    return static_cast<double>(work) / workers + static_cast<double>(depth);
}

double graham_bound(Ticks work, Ticks depth, double workers) {
    return static_cast<double>(work - depth) / workers + static_cast<double>(depth);
}

std::optional<std::int64_t> crossover_workers(Ticks work, Ticks depth) {
    if (depth <= 0) { return std::nullopt; }
    return work / depth + 1; // K D > W where K is more than the whole part of W / D
}

std::optional<std::int64_t> crossover_power_of_two(Ticks work, Ticks depth) {
    auto const workers = crossover_workers(work, depth);
    if (!workers || *workers > std::int64_t{1} << 62) { return std::nullopt; }
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(*workers)));
}

} // namespace headroom::laws
