#pragma once

#include "headroom/ranks.hpp"

#include <utility>
#include <vector>

namespace headroom::measure {

/// Two of several ranks, the lower one first.
using RankPair = std::pair<int, int>;

/// Every pair of p ranks in rounds of disjoint pairs, so that all pairs of a round may send at once and no rank is asked
/// for two things: a 1-factorisation of the complete graph by the circle method.
///
///     round r, p even    {p-1, r} and {(r + k) mod (p-1), (r - k) mod (p-1)}, k = 1 .. p/2 - 1;   p - 1 rounds
///     p odd              as p + 1, where the partner of the added rank rests;                     p rounds
///
/// Holds for:  any p >= 1 (one rank has no pair and no round).
/// Source:     [Lucas1883]
std::vector<std::vector<RankPair>> pair_rounds(Ranks p);

} // namespace headroom::measure
