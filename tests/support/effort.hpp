#pragma once

#include <cmath>
#include <cstdlib>

namespace headroom::test {

/// How often a random experiment is repeated: as often as a test can wait for, and more in `make check-long`.
inline int trials_of(int usual, int in_long_checks) {
    return std::getenv("HEADROOM_LONG_CHECKS") != nullptr ? in_long_checks : usual;
}

/// What of `trials` with this chance may succeed without surprise: 3.7 standard deviations on both sides.
struct Successes {
    double least, most;
};
inline Successes unsurprising(int trials, double chance) {
    double const mean = trials * chance, reach = 3.7 * std::sqrt(trials * chance * (1.0 - chance));
    return {mean - reach, mean + reach};
}

} // namespace headroom::test
