#pragma once

#include "base/statistics/normal.hpp"
#include "support/random.hpp"

#include "headroom/serving/latency_statistics.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::test {

inline double normal(CounterRandom& random) { return normal_exceeded_by(random.uniform()); }

/// Blocks whose means remember a share `memory` of the one before, on levels that last equally long.
inline std::vector<serving::DigestBlock> blocks_of(std::size_t count, double memory, std::vector<double> const& levels,
                                                   std::uint64_t seed) {
    CounterRandom random{seed};
    std::vector<serving::DigestBlock> blocks(count);
    double state = normal(random);
    for (std::size_t i = 0; i < count; ++i) {
        state = memory * state + std::sqrt(1.0 - memory * memory) * normal(random);
        double const place = static_cast<double>(i);
        blocks[i] = {.count = 64, .start = 0.5 * place, .end = 0.5 * place + 0.4};
        blocks[i].mean = 100.0 + levels[i * levels.size() / count] + state;
    }
    return blocks;
}

} // namespace headroom::test
