#pragma once

#include "headroom/machine.hpp"
#include "headroom/network/group.hpp"
#include "headroom/ranks.hpp"

#include <array>
#include <cstdint>

namespace headroom::network {

/// Ranks that are close to each other, and the link between them.
struct Level {
    int ranks = 1; ///< of this level's members: accelerators of a domain, domains of a pod, or the side of a torus
    Link link;
};

/// Arrangement of the ranks of a collective: nested levels from the inside out, or the sides of a torus.
///
///     rank = i0 + n0 (i1 + n1 i2)          n the ranks of each level, i the place in it
///
/// A message between two ranks takes the link of the outermost level in which their places differ. The last group of
/// the outermost level may have fewer ranks: 12 ranks in domains of 8 are 8 and 4.
struct Layout {
    static constexpr int most_levels = 3;
    std::array<Level, most_levels> level{};
    int levels = 1; ///< that are used
    int ranks = 1;  ///< of all; at most the product of the levels' ranks, more than that less one outermost member

    /// p ranks that are equally far from each other: the network of the textbooks.
    static Layout uniform(Ranks p, Link link);
    /// Two levels; one where the group lies in one domain or has one rank in each.
    static Layout of(Group group, Link scale_up, Link scale_out);
    /// Whether every level is full.
    [[nodiscard]] bool even() const;
    /// The index of the level whose link joins these two ranks.
    [[nodiscard]] int level_between(int from, int to) const;
    [[nodiscard]] Link const& outermost() const { return level[static_cast<std::size_t>(levels - 1)].link; }
};

} // namespace headroom::network
