#pragma once

#include "headroom/serving/latency_digest.hpp"

#include <optional>
#include <span>

namespace headroom::serving {

/// Senders that each wait for their answer.
struct WaitingSenders {
    double connections = 1.0; ///< number of senders
    double likeness = 0.0;    ///< of gaps and latencies: their correlation
};

/// Looks for them in blocks with times: c connections that wait for answers send every (latency + pause) / c (Little's
/// law), so that gaps grow with latencies, by 1/c. Looks at differences of neighbouring blocks, so that slow changes of
/// the load say nothing; tested by random permutations of them, with a seed.
/// Returns: nothing where the gaps do not grow, or too few blocks have times.
std::optional<WaitingSenders> waits_of_many(std::span<DigestBlock const> blocks);

} // namespace headroom::serving
