#include "exchange.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <limits>
#include <sys/prctl.h>
#include <utility>

namespace headroom::step_example {

std::vector<Bucket> buckets_of(std::size_t elements, double bytes, std::size_t element_bytes) {
    constexpr double most_bytes = 1e15;
    std::size_t const most =
        std::max<std::size_t>(static_cast<std::size_t>(std::min(bytes, most_bytes)) / element_bytes, 1);
    std::vector<Bucket> buckets;
    for (std::size_t last = elements; last > 0; last = buckets.back().first) {
        buckets.push_back({last - std::min(last, most), last});
    }
    return buckets;
}

BucketQueue::BucketQueue(std::vector<Bucket> const& buckets, bool overlaps, Reduce reduce)
    : buckets_{buckets}, reduce_{std::move(reduce)}, finished_{std::numeric_limits<std::size_t>::max()} {
    if (overlaps) {
        thread_ = std::jthread{[this] { work(); }};
    }
}

void BucketQueue::finished(std::size_t place) {
    finished_ = place;
    finished_.notify_one();
}

double BucketQueue::wait() {
    thread_.joinable() ? thread_.join() : work();
    return busy_;
}

void BucketQueue::work() {
    for (Bucket const bucket : buckets_) {
        for (std::size_t place = finished_; place > bucket.first; place = finished_) { finished_.wait(place); }
        double const begin = seconds_now();
        reduce_(bucket);
        busy_ += seconds_now() - begin;
    }
}

double seconds_now() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void sleep_until(double instant) {
    prctl(PR_SET_TIMERSLACK, 1UL); // of this thread; without it the kernel may be 50 us late to save wakings
    double const whole = std::floor(instant);
    timespec const when{.tv_sec = static_cast<time_t>(whole), .tv_nsec = static_cast<long>((instant - whole) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) {}
}

} // namespace headroom::step_example
