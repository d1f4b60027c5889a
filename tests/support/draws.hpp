#pragma once

// Number of random draws that a property test makes.

#include <algorithm>
#include <cstdlib>

namespace headroom::test {

/// Share of its draws that a test makes: HEADROOM_DRAWS (`make check-long`: 1, `make agreement`: 5), else a tenth.
inline double share_of_draws() {
    constexpr double usual = 0.1;
    static double const share = [] {
        char const* const asked = std::getenv("HEADROOM_DRAWS");
        double const stated = asked != nullptr ? std::atof(asked) : 0.0;
        return stated > 0.0 ? stated : usual;
    }();
    return share;
}

/// Draws that a test makes of `all`: its share, and at least `least`.
inline int draws_of(int all, int least = 1) {
    return std::max({1, std::min(all, least), static_cast<int>(share_of_draws() * all)});
}

} // namespace headroom::test
