#pragma once

#include "latencies/sample_builder.hpp"

#include "headroom/serving/latency_histogram.hpp"

#include <cstdint>
#include <vector>

namespace headroom::io {

/// Samples that a file holds as counts of buckets.
class BucketedSamples {
public:
    /// Samples between two values, in seconds, spread evenly over them; buckets come in ascending order.
    /// False where they are no bucket.
    bool add(double start, double end, std::uint64_t count);
    /// Samples above the last bucket, of which nothing else is known.
    void add_beyond(std::uint64_t count) { beyond_ = count; }
    [[nodiscard]] std::uint64_t count() const { return values_.count() + beyond_; }
    /// Hands the samples over, with the shares up to the end of each bucket.
    void finish(SampleBuilder& samples);

private:
    struct End {
        double seconds = 0.0;
        std::uint64_t total = 0; ///< samples up to it
    };
    serving::LatencyHistogram values_;
    std::vector<End> ends_;
    std::uint64_t beyond_ = 0;
    double coarsest_ = 0.0;
};

} // namespace headroom::io
