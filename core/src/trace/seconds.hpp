#pragma once

#include "headroom/laws/dag.hpp"

#include <optional>

namespace headroom::trace {

// Seconds of times in nanoseconds, as results state them.

constexpr double seconds_from(double ns) { return ns / 1e9; }
constexpr double seconds_from(Ticks ns) { return seconds_from(static_cast<double>(ns)); }

/// Nothing where the trace does not state the time.
constexpr std::optional<double> seconds_when(bool known, Ticks ns) {
    return known ? std::optional{seconds_from(ns)} : std::nullopt;
}

template <auto Member> struct SecondsOf;
template <class T, class R, R T::*Pointer> struct SecondsOf<Pointer> {
    constexpr double operator()(T const& object) const { return seconds_from(object.*Pointer); }
};
/// Getter of a member in nanoseconds: `seconds<&PathPiece::begin>`.
template <auto Pointer> inline constexpr SecondsOf<Pointer> seconds{};

} // namespace headroom::trace
