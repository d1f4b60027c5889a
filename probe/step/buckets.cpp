#include "buckets.hpp"

#include "pace.hpp"

#include <algorithm>
#include <utility>

namespace headroom::training {

std::vector<Bucket> buckets_of(std::size_t elements, std::size_t most) {
    std::vector<Bucket> buckets;
    for (std::size_t last = elements; last > 0;) {
        std::size_t const first = last - std::min(last, std::max<std::size_t>(most, 1));
        buckets.push_back({first, last});
        last = first;
    }
    return buckets;
}

std::size_t bucket_elements(double bytes, std::size_t element_bytes) {
    constexpr double most = 1e15;
    return std::max<std::size_t>(static_cast<std::size_t>(std::min(bytes, most)) / element_bytes, 1);
}

BucketQueue::BucketQueue(std::vector<Bucket> buckets, bool beside, Reduce reduce)
    : buckets_{std::move(buckets)}, reduce_{std::move(reduce)}, beside_{beside} {
    if (beside_) {
        thread_ = std::thread{[this] { work(); }};
    }
}

BucketQueue::~BucketQueue() {
    if (!beside_) { return; }
    {
        std::lock_guard const lock{mutex_};
        ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void BucketQueue::reduce(Bucket bucket) {
    double const begin = seconds_now();
    reduce_(bucket);
    busy_ += seconds_now() - begin;
}

void BucketQueue::finished(std::size_t place) {
    {
        std::lock_guard const lock{mutex_};
        while (ready_ < buckets_.size() && buckets_[ready_].first >= place) { ++ready_; }
    }
    if (beside_) { changed_.notify_all(); }
}

void BucketQueue::work() {
    std::unique_lock lock{mutex_};
    while (true) {
        changed_.wait(lock, [this] { return ends_ || done_ < ready_; });
        if (ends_) { return; }
        Bucket const bucket = buckets_[done_];
        lock.unlock();
        reduce(bucket);
        lock.lock();
        ++done_;
        if (done_ == buckets_.size()) { changed_.notify_all(); }
    }
}

void BucketQueue::wait() {
    std::unique_lock lock{mutex_};
    if (beside_) {
        changed_.wait(lock, [this] { return done_ == buckets_.size(); });
    } else {
        for (; done_ < ready_; ++done_) { reduce(buckets_[done_]); }
    }
    ready_ = done_ = 0;
    busy_of_step_ = std::exchange(busy_, 0.0);
}

} // namespace headroom::training
