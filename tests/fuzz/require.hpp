#pragma once

#include <cstdlib>

/// Ends the program where a statement does not hold: what a fuzzer counts as found.
inline void require(bool holds) {
    if (!holds) { std::abort(); }
}
