// A library to be loaded before OpenMPI's: a rank that waits asks the kernel, by sched_yield(), whether another wants its
// core, and asks again at once. Emulated hosts share a few cores, so that waiting ranks would take the time of those that
// work and of the switch; here a rank that yields sleeps for a moment instead, as if each host had a core of its own.

#include <ctime>

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int sched_yield() noexcept {
    timespec const moment{.tv_sec = 0, .tv_nsec = 20'000};
    nanosleep(&moment, nullptr);
    return 0;
}
