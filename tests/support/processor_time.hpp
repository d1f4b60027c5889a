#pragma once

#include <ctime>

namespace headroom::test {

/// Seconds of processors that this process has used: other work on the machine does not count.
inline double processor_seconds() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

} // namespace headroom::test
