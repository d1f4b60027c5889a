#include "headroom/bucketed_exchange.hpp"

#include <algorithm>
#include <cmath>

namespace headroom {

double bucket_count(Bytes n, Bytes bucket) { return std::max(1.0, std::ceil(n / bucket)); }

BucketedExchange bucketed_exchange(Seconds one_bucket, double buckets, Seconds computation) {
    Seconds const total = buckets * one_bucket;
    return {.total = total, .exposed = std::max(one_bucket, total - (1.0 - 1.0 / buckets) * computation)};
}

BucketedExchange bucketed_exchange(std::span<TimedBucket const> buckets, Seconds computation) {
    Seconds total, end;
    for (TimedBucket const& bucket : buckets) {
        total += bucket.exchange;
        end = std::max(end, bucket.ready) + bucket.exchange;
    }
    return {.total = total, .exposed = std::max(Seconds{}, end - computation)};
}

} // namespace headroom
