#pragma once

#include "headroom/measure/measurement.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom::measure {

/// One run of a campaign: which repetition of which point.
struct PlannedRun {
    std::uint32_t point = 0;
    std::uint32_t repetition = 0; ///< from 0, warm-ups first
    bool warm_up = false;
    bool operator==(PlannedRun const&) const = default;
};

/// Order in which points are measured. Changes over time (clocks that warm up, a machine that gets busy) fall on all
/// points alike: each round takes every point once, in an order drawn for that round.
///
///     round r:  a permutation of the points by Fisher and Yates, numbers of (seed, r) alone
///
/// The first `warm_up` rounds are warm-ups. An order depends on nothing but its arguments, so that a campaign that was
/// interrupted goes on with the remainder of the order; with more repeats its beginning stays.
/// Source:     [Knuth1998]
std::vector<PlannedRun> planned_order(std::size_t points, std::uint32_t warm_up, std::uint32_t repeats,
                                      std::uint64_t seed);

/// Runs of `order` that are not in `taken` yet, in that order.
std::vector<PlannedRun> runs_left(std::span<PlannedRun const> order, std::span<Sample const> taken);

} // namespace headroom::measure
