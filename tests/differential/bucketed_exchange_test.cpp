// Buckets behind a backward pass: the closed form against the buckets one by one.

#include "headroom/bucketed_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace headroom {
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
