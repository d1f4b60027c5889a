#pragma once

#include "headroom/serving/latency_histogram.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace headroom::serving {

/// Neighbours in the order in which samples came: what is kept of time once the samples themselves are gone.
struct DigestBlock {
    std::uint64_t count = 0;
    double start = 0.0, end = 0.0; ///< least and greatest of their times, seconds; their numbers where none is stated
    double mean = 0.0;             ///< within the histogram's relative error, as the median of a block never joined
    double median = 0.0;           ///< of joined blocks from 31 points of each: within 2 % of ranks
    double most = 0.0;             ///< exact
    std::uint64_t above = 0; ///< samples above the 99th percentile of those before, found again every 1/16 more samples
};

/// Summary of one pass over samples, in constant memory: their histogram, and blocks of neighbours.
///
/// Blocks hold equally many samples, a power of two, but for the last, which may hold fewer. When there are
/// `most_blocks`, two neighbours become one, so that any number of samples ends in `most_blocks` / 2 to `most_blocks` of
/// them. The answer depends on the samples and their order alone, not on how many were given at once.
///
/// Not for several threads at once, `blocks` included.
class LatencyDigest {
public:
    static constexpr std::size_t most_blocks = 1024;

    LatencyDigest();
    ~LatencyDigest();
    LatencyDigest(LatencyDigest&&) noexcept;
    LatencyDigest& operator=(LatencyDigest&&) noexcept;

    /// Errors: as LatencyHistogram::record.
    void add(double value);
    /// With the time at which the request was sent, seconds after anything. Times before the last one are counted, and
    /// the sample is kept.
    /// Errors: also InputError{usage} for a time that is not finite.
    void add(double value, double sent);
    /// For many without times. Nothing is added where one of them cannot be.
    void add(std::span<double const> values);
    /// For many with a time each; NaN for one whose time is not known.
    /// Errors: also InputError{usage} for spans of different length.
    void add(std::span<double const> values, std::span<double const> sent);
    /// Values that came from a histogram: they have no order.
    void add(LatencyHistogram const& values);

    [[nodiscard]] LatencyHistogram const& values() const;
    [[nodiscard]] std::vector<DigestBlock> const& blocks() const; ///< in order; none where values have no order
    [[nodiscard]] bool has_times() const;
    /// From the first to the last time; 0 without.
    [[nodiscard]] double duration() const;
    /// Number of samples whose time was before that of the sample before, and the first of them (its number, from 0).
    [[nodiscard]] std::uint64_t times_backwards() const;
    [[nodiscard]] std::optional<std::uint64_t> first_backwards() const;
    /// Times from one request to the next, where that is not before it; empty without times.
    [[nodiscard]] LatencyHistogram const& gaps() const;
    /// Samples whose request was sent only after the one before had come back, and soon: the remainder of the gap
    /// between the two is at most a tenth of it. In a closed loop they are nearly all.
    [[nodiscard]] std::uint64_t sent_after_answer() const;
    /// Latencies of the ones before: what was waited for.
    [[nodiscard]] LatencyHistogram const& waited_for() const;
    [[nodiscard]] std::size_t memory_bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace headroom::serving
