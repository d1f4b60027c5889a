#pragma once

#include "headroom/quantity.hpp"

#include <span>

namespace headroom::network {

/// A vector that is sent in equal buckets while the computation makes it.
struct BucketedExchange {
    Seconds total;   ///< of all buckets, one after another
    Seconds exposed; ///< traffic still to send when the computation has ended
    Seconds slowed;  ///< by which the computation ends later than without an exchange
};

/// Buckets of at most `bucket` bytes that n bytes need: ceil(n / bucket), at least one.
double bucket_count(Bytes n, Bytes bucket);

/// Time of b equal buckets of t_1 each, made evenly over a computation of W and sent in order.
///
///     T = b t_1,  exposed = max(T/b, T - W (1 - 1/b))
///
/// The last bucket is ready when the computation ends, so one is always exposed; the first is ready after W/b, and where
/// the network is the slower of the two it is busy from then on. With one bucket nothing is hidden.
/// Holds for:  b >= 1, W >= 0. t_1 holds each bucket's own latency: with many small buckets T grows.
/// Assumes:    buckets are sent one at a time and do not slow the computation.
/// Source:     [Li2020]
BucketedExchange bucketed_exchange(Seconds one_bucket, double buckets, Seconds computation);

/// A bucket as it was measured, or will be.
struct TimedBucket {
    Seconds ready;    ///< since the computation began
    Seconds exchange; ///< duration of its exchange without other traffic
};

/// Exchange of buckets of any sizes and times, sent in the given order, where sending takes a share `load` of the
/// computation's processor.
///
///     e_i = max(c(r_i), e_(i-1)) + t_i,  T = sum of t_i,  exposed = max(0, e_b - c(W)),  slowed = c(W) - W
///     c(r): when as much as r of the computation is done; it goes on at 1, and at 1 - load while a bucket is on its way
///
/// A bucket leaves when it is ready and the one before has arrived. With no load c(r) = r, and equal buckets that are
/// ready at W/b, 2W/b ... W have the closed form above.
/// Holds for:  r_i, t_i, W >= 0; 0 <= load < 1; no bucket costs nothing.
/// Assumes:    buckets are sent one at a time; what moves them comes before what computes (a thread that slept goes first).
/// Errors:     ContractError for another load.
/// Source:     [Li2020]
BucketedExchange bucketed_exchange(std::span<TimedBucket const> buckets, Seconds computation, double load = 0.0);

} // namespace headroom::network
