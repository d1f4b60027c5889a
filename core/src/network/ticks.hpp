#pragma once

#include "headroom/dag.hpp"
#include "headroom/error.hpp"

#include <cmath>

namespace headroom {

inline constexpr double picosecond = 1e-12;

/// Whole picoseconds of a time; what does not fit says so.
inline Ticks ticks_of(double seconds) {
    double const ticks = std::nearbyint(seconds / picosecond);
    if (!(ticks < 4e18)) {
        throw InputError{Fault::usage,
                         {.where = "simulation",
                          .problem = "a message takes longer than picoseconds can count",
                          .why = "46 days are the most",
                          .hint = "give a faster link or less data"}};
    }
    return static_cast<Ticks>(ticks);
}

} // namespace headroom
