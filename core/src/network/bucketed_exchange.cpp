#include "headroom/network/bucketed_exchange.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::network {

double bucket_count(Bytes n, Bytes bucket) { return std::max(1.0, std::ceil(n / bucket)); }

BucketedExchange bucketed_exchange(Seconds one_bucket, double buckets, Seconds computation) {
    Seconds const total = buckets * one_bucket;
    return {.total = total, .exposed = std::max(one_bucket, total - (1.0 - 1.0 / buckets) * computation), .slowed = {}};
}

namespace {

/// A computation of `whole`: what is done of it, and when it ended.
class Computation {
public:
    explicit Computation(Seconds whole) : whole_{whole} {}

    [[nodiscard]] Seconds done() const { return done_; }
    [[nodiscard]] Seconds now() const { return now_; }
    /// Lets time pass in which it goes on at `rate`.
    void pass(Seconds time, double rate) {
        bool const ends = done_ < whole_ && done_ + rate * time >= whole_;
        if (ends) { end_ = now_ + (whole_ - done_) / rate; }
        done_ += rate * time;
        now_ += time;
    }
    /// Runs until the work has ended; not by `pass`, since the work done and the remainder may round to less than the
    /// whole.
    void finish() {
        if (done_ >= whole_) { return; }
        end_ = now_ += whole_ - done_;
        done_ = whole_;
    }
    [[nodiscard]] Seconds end() const { return end_; }

private:
    Seconds whole_, done_, now_, end_;
};

} // namespace

BucketedExchange bucketed_exchange(std::span<TimedBucket const> buckets, Seconds computation, double load) {
    if (!(load >= 0.0 && load < 1.0)) { throw ContractError{"an exchange takes less than the processor"}; }
    Computation work{computation};
    Seconds total, arrived;
    for (TimedBucket const& bucket : buckets) {
        total += bucket.exchange;
        if (bucket.ready > work.done()) { work.pass(bucket.ready - work.done(), 1.0); }
        work.pass(bucket.exchange, 1.0 - load);
        arrived = work.now();
    }
    work.finish();
    return {.total = total,
            .exposed = std::max(Seconds{}, arrived - work.end()),
            .slowed = std::max(Seconds{}, work.end() - computation)};
}

} // namespace headroom::network
