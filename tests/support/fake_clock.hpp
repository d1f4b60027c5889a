#pragma once

#include "headroom/probe/clock.hpp"

namespace headroom::test {

/// Time passes where a test says so, on each thread by itself: strands then last exactly what they should, on
/// whichever worker they run.
struct FakeClock {
    static probe::Nanoseconds now() { return time; }
    static void pass(probe::Nanoseconds ticks) { time += ticks; }
    static inline constinit thread_local probe::Nanoseconds time = 0;
};

/// Every reading takes five ticks, and nothing else takes any.
struct SlowClock {
    static probe::Nanoseconds now() { return time += 5; }
    static inline constinit thread_local probe::Nanoseconds time = 0;
};

} // namespace headroom::test
