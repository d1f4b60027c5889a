#pragma once

#include "headroom/network/library_collectives.hpp"

namespace headroom::network {

/// Workers that train alone for H steps, then average how far they came.
struct LocalUpdates {
    int period = 1;                 ///< H: steps between two exchanges; 1 is plain data parallelism
    double bytes_per_element = 4.0; ///< of what is exchanged
    int shards = 1;                 ///< ranks of one worker that share its outer state
};

/// Traffic and memory of local updates, for N parameters.
struct LocalUpdateCost {
    TotalBytes exchanged; ///< all-reduce, once every H steps
    Bytes per_step;       ///< exchanged / H
    Bytes outer_state;    ///< on each rank
};

/// Bytes of local steps with an outer optimizer.
///
///     exchanged = N w,  per step N w / H,  outer state 8 N / shards
///
/// The outer state is the parameters of the last exchange and one momentum, 32 bits each. With H = 1 there is none and
/// the exchange is that of the gradients.
/// Holds for:  H >= 1.
/// Assumes:    every rank of a worker exchanges its own part with the same part of the others; the sizes here are of all
///             parts together.
/// Source:     [DiLoCo]
LocalUpdateCost local_updates(double parameters, LocalUpdates const& updates);

} // namespace headroom::network
