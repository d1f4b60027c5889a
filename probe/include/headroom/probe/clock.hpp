#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>

namespace headroom::probe {

using Nanoseconds = std::int64_t;

constexpr double in_seconds(Nanoseconds time) { return 1e-9 * static_cast<double>(time); }

/// A clock is a type with `now()`: nanoseconds that never run backwards on one thread. Strands begin and end on the
/// same thread, so clocks of different threads need not agree.
struct SteadyClock {
    static Nanoseconds now() noexcept {
        auto const since = std::chrono::steady_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
    }
};

#ifdef CLOCK_THREAD_CPUTIME_ID
#define HEADROOM_PROBE_CPU_CLOCK 1
/// Time that the thread really ran: other users of the machine do not count. The system is asked for it, which costs
/// ten and more times what `SteadyClock` costs, so strands should be long. Where POSIX clocks are.
struct ThreadCpuClock {
    static Nanoseconds now() noexcept {
        std::timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return Nanoseconds{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }
};
#endif

/// Average difference of two readings of the clock with nothing between them, nanoseconds: this much of every measured
/// interval is the clock itself. The least of several averages, because interruptions only add.
template <class Clock> Nanoseconds clock_cost() {
    constexpr int batches = 16;
    constexpr int readings = 512;
    Nanoseconds least = std::numeric_limits<Nanoseconds>::max();
    for (int batch = 0; batch < batches; ++batch) {
        Nanoseconds sum = 0;
        for (int reading = 0; reading < readings; ++reading) {
            Nanoseconds const begin = Clock::now();
            sum += Clock::now() - begin;
        }
        least = std::min(least, (sum + readings / 2) / readings);
    }
    return least;
}

} // namespace headroom::probe
