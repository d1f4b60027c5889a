#pragma once

#include "headroom/latency_histogram.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

/// Neighbours in the order in which samples came: what is kept of time once the samples themselves are gone.
struct DigestBlock {
    std::uint64_t count = 0;
    double start = 0.0, end = 0.0; ///< of their times, seconds; their numbers where no time is stated
    double mean = 0.0, median = 0.0, most = 0.0;
    std::uint64_t above =
        0; ///< how many exceed the 99th percentile of what came before, which the digest keeps up to date
};

/// What one pass over samples keeps, in constant memory: their histogram, and blocks of neighbours.
///
/// Blocks hold equally many samples. When there are `most_blocks`, two neighbours become one, so that any number of
/// samples ends in `most_blocks` / 2 to `most_blocks` of them.
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
    void add(double value, double sent);
    /// For many without times.
    void add(std::span<double const> values);
    /// Values that came from a histogram: they have no order.
    void add(LatencyHistogram const& values);

    [[nodiscard]] LatencyHistogram const& values() const;
    [[nodiscard]] std::vector<DigestBlock> const& blocks() const; ///< in order; none where values have no order
    [[nodiscard]] bool has_times() const;
    /// From the first to the last time; 0 without.
    [[nodiscard]] double duration() const;
    /// How often a time was before the one that came before it, and where first (its number, from 0).
    [[nodiscard]] std::uint64_t times_backwards() const;
    [[nodiscard]] std::optional<std::uint64_t> first_backwards() const;
    /// Of times from one request to the next; empty without times.
    [[nodiscard]] LatencyHistogram const& gaps() const;
    /// Samples whose request was sent only after the one before had come back, by less than a gap: a closed loop.
    [[nodiscard]] std::uint64_t sent_after_answer() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace headroom
