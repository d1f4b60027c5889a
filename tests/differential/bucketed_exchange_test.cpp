// Buckets during a backward pass: the closed form against the buckets one by one.

#include "support/random.hpp"

#include "headroom/network/bucketed_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace headroom {

using namespace headroom::network;

namespace {

/// Bucket i of b is ready after (i + 1) W/b and goes when it is ready and the one before it is through.
double exposed_one_by_one(double one_bucket, int buckets, double computation) {
    double free = 0.0;
    for (int i = 0; i < buckets; ++i) {
        double const ready = computation * (i + 1) / buckets;
        free = std::max(free, ready) + one_bucket;
    }
    return free - computation;
}

TEST(BucketedExchange, IsTheQueueOfItsBuckets) {
    for (int const buckets : {1, 2, 3, 7, 64, 1000}) {
        for (double const computation : {0.0, 0.001, 0.18, 5.0}) {
            for (double const one_bucket : {1e-6, 0.0028, 0.09, 0.2, 1.0}) {
                BucketedExchange const found = bucketed_exchange(Seconds{one_bucket}, buckets, Seconds{computation});
                EXPECT_NEAR(found.exposed.base(), exposed_one_by_one(one_bucket, buckets, computation),
                            1e-12 * (computation + buckets * one_bucket))
                    << buckets << " buckets of " << one_bucket << " s behind " << computation << " s";
                EXPECT_DOUBLE_EQ(found.total.base(), buckets * one_bucket);
            }
        }
    }
}

/// Exchange where sending takes processor time: in small slices of time, one after another.
BucketedExchange in_slices(std::vector<TimedBucket> const& buckets, double computation, double load, double slice) {
    double now = 0.0, done = 0.0, ended = -1.0, left = 0.0, arrived = 0.0;
    std::size_t next = 0;
    while (ended < 0.0 || left > 0.0 || next < buckets.size()) {
        if (left <= 0.0 && next < buckets.size() && (done >= buckets[next].ready.base() || ended >= 0.0)) {
            left = buckets[next++].exchange.base();
        }
        bool const busy = left > 0.0;
        now += slice;
        done += slice * (busy ? 1.0 - load : 1.0);
        left -= busy ? slice : 0.0;
        if (busy) { arrived = now; }
        if (ended < 0.0 && done >= computation) { ended = now; }
    }
    return {.total = {}, .exposed = Seconds{std::max(0.0, arrived - ended)}, .slowed = Seconds{ended - computation}};
}

TEST(BucketedExchange, SlowsTheComputationAsSlicesOfTimeDo) {
    constexpr double slice = 1e-4;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        test::CounterRandom random{seed};
        auto const upto = [&](double most) { return most * static_cast<double>(random.next() % 10'000) * 1e-4; };
        double const computation = 0.2 + upto(1.0), load = upto(0.9);
        std::vector<TimedBucket> buckets(1 + random.next() % 6);
        std::vector<double> ready(buckets.size());
        std::generate(ready.begin(), ready.end(), [&] { return upto(computation); });
        std::sort(ready.begin(), ready.end());
        for (std::size_t i = 0; i < buckets.size(); ++i) { buckets[i] = {Seconds{ready[i]}, Seconds{upto(0.4)}}; }
        BucketedExchange const found = bucketed_exchange(buckets, Seconds{computation}, load);
        BucketedExchange const slow = in_slices(buckets, computation, load, slice);
        double const near = 4.0 * slice * static_cast<double>(buckets.size() + 1) / (1.0 - load);
        EXPECT_NEAR(found.exposed.base(), slow.exposed.base(), near) << "seed " << seed;
        EXPECT_NEAR(found.slowed.base(), slow.slowed.base(), near) << "seed " << seed;
    }
}

TEST(BucketedExchange, HidesNothingInOneBucketOrBehindNothing) {
    // Expectation: a single bucket is ready when the computation ends; without computation all are exposed.
    EXPECT_EQ(bucketed_exchange(Seconds{0.4}, 1.0, Seconds{9.0}).exposed, Seconds{0.4});
    EXPECT_EQ(bucketed_exchange(Seconds{0.1}, 4.0, Seconds{}).exposed, Seconds{0.4});
}

TEST(BucketedExchange, CountsTheLastBucketThatIsNotFull) {
    EXPECT_EQ(bucket_count(Bytes{100e6}, Bytes{25e6}), 4.0);
    EXPECT_EQ(bucket_count(Bytes{101e6}, Bytes{25e6}), 5.0);
    EXPECT_EQ(bucket_count(Bytes{1.0}, Bytes{25e6}), 1.0);
}

} // namespace
} // namespace headroom
