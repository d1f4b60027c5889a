#pragma once

#include "headroom/serving/serving_simulation.hpp"

#include <array>
#include <cstdint>

namespace headroom::serving {

/// The span that is counted: from the end of warming up to the last arrival.
struct ServingSpan {
    double begin = 0.0, end = 0.0;
    [[nodiscard]] double middle() const { return 0.5 * (begin + end); }
};

/// Work of replicas in iterations that began in one interval of time.
struct ServingWork {
    double busy = 0.0;                   ///< seconds of replicas
    double batch = 0.0;                  ///< decoding sequences x seconds
    double cache = 0.0;                  ///< share of the cache x seconds
    double outputs = 0.0, prompts = 0.0; ///< tokens
    void add(ServingWork const& other) {
        busy += other.busy, batch += other.batch, cache += other.cache;
        outputs += other.outputs, prompts += other.prompts;
    }
};

/// Sums over the requests and iterations of some replicas.
struct ServingTally {
    LatencyHistogram first_token, per_token, whole;
    std::uint64_t requests = 0, met = 0, refused = 0, preemptions = 0, iterations = 0, events = 0;
    std::uint64_t served = 0, left = 0; ///< counted or not; of them, after the span
    std::array<ServingWork, 2> work{};  ///< in the span, after it
    std::array<double, 3> present{};    ///< requests x seconds: in the first half of the span, the second, after it
    std::array<double, 2> waiting{};    ///< requests x seconds in lines: in the span, after it
    double cache_peak = 0.0, last = 0.0;

    void add(ServingTally const& other);
};

} // namespace headroom::serving
