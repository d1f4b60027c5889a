#pragma once

#include "headroom/laws/dag.hpp"

#include <cstdint>
#include <vector>

namespace headroom::trace {

/// The collectives of one group on one rank in their order, as far as two ranks can compare them.
struct CollectiveTrack {
    std::vector<std::uint64_t> call; ///< hash of what is called and of its size
    std::vector<std::uint64_t> name; ///< hash of what is called
    std::vector<Ticks> end;          ///< on the rank's own clock, from `epoch`
    std::vector<std::int64_t> step;  ///< number of the annotated step; -1: none is stated
    std::int64_t epoch = 0;
};

/// Marks what has no partner.
inline constexpr std::int32_t no_partner = -1;

/// For each collective of `other`, its position in `reference`.
///
/// Tracks whose steps are stated and differ meet step by step. Equal tracks go position by position. A track that is a
/// piece of the other (its trace began later or ended earlier) is laid where the ends of both differ by the most
/// constant amount, whatever the clocks; where that does not tell, where clocks differ least; one that lost some in the middle by its ends, once the clocks are taken off. Everything else by a longest common subsequence of calls, of names where calls agree badly;
/// where more than 1,024 differ, by what is equal at both ends.
/// O(n) where tracks are equal; else O(n + (n + edits) edits), and 4,096 places of 64 samples for pieces.
std::vector<std::int32_t> partners_in(CollectiveTrack const& reference, CollectiveTrack const& other);

/// Positions in `a` of each element of `b` along a longest common subsequence; `no_partner` for what is not on it. Source: [Myers1986]
std::vector<std::int32_t> common_subsequence(std::vector<std::uint64_t> const& a, std::vector<std::uint64_t> const& b,
                                             std::int32_t most_edits);

} // namespace headroom::trace
