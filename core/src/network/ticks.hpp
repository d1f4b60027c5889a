#pragma once

#include "headroom/error.hpp"
#include "headroom/timeline.hpp"

#include <cmath>
#include <string>

namespace headroom::network {

inline constexpr double picosecond = 1e-12;
/// The latest time, and the longest duration, that is counted: two of them added up still fit.
inline constexpr Ticks most_ticks = 4'000'000'000'000'000'000;

[[noreturn]] inline void refuse_ticks(char const* what) {
    refuse("simulation", std::string{what} + " longer than picoseconds can count", "46 days are the most",
           "give a faster link or less data");
}

/// Whole picoseconds of a time; what does not fit says so.
inline Ticks ticks_of(double seconds) {
    double const ticks = std::nearbyint(seconds / picosecond);
    if (!(ticks < static_cast<double>(most_ticks))) { refuse_ticks("a message takes"); }
    return static_cast<Ticks>(ticks);
}

/// A time that durations were added up to.
inline Ticks checked_sum(Ticks time) {
    if (time > most_ticks) { refuse_ticks("messages one after the other take"); }
    return time;
}

} // namespace headroom::network
