#pragma once

// Round numbers that rows of the table of collectives are counted by hand with, and a row by its name.

#include "headroom/network/collective_algorithm.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

namespace headroom::by_hand {

/// A message costs 1 us and 1 ns a byte; further out 7 us and 10 ns, then 19 us and 33 ns.
inline Link const link{.latency = 1.0 * units::us, .bandwidth = 1.0 * units::GB / units::s};
inline Link const slow{.latency = 7.0 * units::us, .bandwidth = 0.1 * units::GB / units::s};
inline Link const slowest{.latency = 19.0 * units::us, .bandwidth = 0.03 * units::GB / units::s};
inline constexpr SecondsPerByte gamma{0.25e-9};

inline network::CollectiveAlgorithm const& row(network::Collective collective, std::string_view name) {
    for (network::CollectiveAlgorithm const& one : network::collective_algorithms()) {
        if (one.collective == collective && one.name == name) { return one; }
    }
    throw std::out_of_range{"no algorithm " + std::string{name}};
}

} // namespace headroom::by_hand
