#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headroom::fit {

/// Repeated times of one message between two ranks.
struct PairTime {
    int first = 0, second = 0;
    bool same_host = false; ///< pairs within hosts and pairs between hosts are never compared with each other
    double least_seconds = 0.0, median_seconds = 0.0;
};

/// A link that takes longer than its likes.
struct SlowLink {
    std::size_t pair = 0; ///< index into what was given
    double factor = 1.0;  ///< its time over that of the healthy ones
    bool always = true;   ///< also its least time; false: only its median, so it is fast now and then
};

/// A rank most of whose links are slow: it, or its host's NIC, and not the links.
struct SlowRank {
    int rank = 0;
    double factor = 1.0;          ///< middle one of its slow links
    std::size_t slow = 0, of = 0; ///< its slow links, and all that were judged
};

struct PairVerdict {
    std::vector<SlowLink> links; ///< the slowest first; those of slow ranks among them
    std::vector<SlowRank> ranks; ///< the slowest first
    std::size_t judged = 0;      ///< pairs that had likes enough to be compared with
};

struct PairSettings {
    double least_factor = 1.3; ///< a link that is less slow than this is never named
    double deviations = 6.0;
};

/// Finds links that are slower than the others of their kind, by logarithms of times, sorted:
///
///     base      lower quartile: the healthy half, also where one rank of four makes half of all links slow
///     sigma     (x_(3/8) - x_(1/8)) / 0.831, the standard deviation of the healthy half if it is log-normal
///     slow      x - base > max(ln `least_factor`, `deviations` sigma)
///
/// A rank is slow where at least two links of it were judged and three in four of those are slow.
/// Holds for:  six pairs of a kind and more, less than half of them slow beyond those of one rank; fewer are not judged.
PairVerdict find_slow_links(std::span<PairTime const> pairs, PairSettings const& settings = {});

} // namespace headroom::fit
