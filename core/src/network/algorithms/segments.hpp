#pragma once

#include "headroom/network/collective_algorithm.hpp"

#include <cstdint>

namespace headroom::network::algorithms {

/// The most segments that a pipeline is cut into, which bounds a schedule where alpha is zero.
inline constexpr std::uint32_t most_segments = 65'536;

/// Segments of a pipeline whose last one is through after q + f rounds, f the rounds that it takes to fill.
///
///     T(q) = (q + f)(alpha + h/q)        q* = sqrt(f h / alpha)
///
/// h is what the whole vector takes over one hop, without alpha: n beta, or n (beta + gamma) where it is added. T is
/// convex, so the best whole number is a neighbour of q*, and T(b) <= T(b+1) where f h <= alpha b (b+1); of two equal
/// ones the lesser is taken.
/// Holds for:  f, h and alpha at least zero; at least one segment, none of less than a byte, at most `most_segments`.
/// Source:     [SandersSpeckTraeff2009]
std::uint32_t best_segments(double fill, Bytes size, Seconds hop, Seconds alpha);

} // namespace headroom::network::algorithms
