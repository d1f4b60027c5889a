#include "pace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <sys/prctl.h>

namespace headroom::training {
namespace {

void sleep_until(double instant) {
    double const whole = std::floor(instant);
    timespec const when{.tv_sec = static_cast<time_t>(whole), .tv_nsec = static_cast<long>((instant - whole) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) != 0) {}
}

} // namespace

double seconds_now() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Sleeper::Sleeper() {
    constexpr double nap = 1e-3;
    prctl(PR_SET_TIMERSLACK, 1UL); // of this thread; without it the kernel may be 50 us late to save wakings
    std::array<double, 31> late{};
    for (double& one : late) {
        double const when = seconds_now() + nap;
        sleep_until(when);
        one = seconds_now() - when;
    }
    auto const middle = late.begin() + late.size() / 2;
    std::nth_element(late.begin(), middle, late.end());
    overshoot_ = std::min(*middle, nap);
}

void Sleeper::until(double instant) const {
    if (instant - overshoot_ > seconds_now()) { sleep_until(instant - overshoot_); }
}

} // namespace headroom::training
