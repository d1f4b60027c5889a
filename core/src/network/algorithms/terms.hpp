#pragma once

#include "headroom/network/collective_algorithm.hpp"

#include <bit>

// The letters of the closed forms: alpha, beta and gamma of a level, and counts of rounds.

namespace headroom::network::algorithms {

/// T of `messages` one after another that carry `bytes` in all, of which `added` are added to others.
inline CollectiveTime terms(double messages, double bytes, double added, Link const& link, SecondsPerByte gamma) {
    return {.latency = messages * link.latency,
            .bandwidth = bytes > 0.0 ? Bytes{bytes} / link.bandwidth : Seconds{},
            .reduction = Bytes{added} * gamma};
}

inline CollectiveTime operator+(CollectiveTime a, CollectiveTime const& b) {
    return {a.latency + b.latency, a.bandwidth + b.bandwidth, a.reduction + b.reduction};
}

/// floor(lg p) and ceil(lg p), in whole numbers.
inline int floor_log2(int p) { return std::bit_width(static_cast<unsigned>(p)) - 1; }
inline int ceil_log2(int p) { return p > 1 ? std::bit_width(static_cast<unsigned>(p - 1)) : 0; }

} // namespace headroom::network::algorithms
