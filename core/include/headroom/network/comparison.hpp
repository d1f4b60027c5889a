#pragma once

#include "headroom/network/collective.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace headroom::network {

/// Factor from algorithm bandwidth (size / time) to bus bandwidth, which compares with a link's rate.
///
///     all-reduce 2(p-1)/p;  all-gather, reduce-scatter, all-to-all, scatter, gather (p-1)/p;
///     broadcast, reduce, point-to-point 1;  barrier 0: it moves nothing
///
/// Source: [NcclTests]
double bus_bandwidth_factor(Collective collective, Ranks p);

/// Time of an algorithm, given the size alone.
using TimeOfSize = std::function<Seconds(TotalBytes)>;

/// The index of the fastest; what is equal to nine digits counts as equal, and the earlier wins.
std::size_t fastest_of(std::span<TimeOfSize const> algorithms, TotalBytes n);

/// A size at which the fastest algorithm changes.
struct Crossover {
    TotalBytes size;
    std::size_t below, above; ///< the fastest on either side
    Seconds time;             ///< at the size
};

/// Every crossover between two sizes: each doubling is looked at, and where its ends differ the change is found by
/// bisection, to nine digits of the size. A change that a single doubling takes back is not seen.
std::vector<Crossover> crossovers(std::span<TimeOfSize const> algorithms, TotalBytes from, TotalBytes to);

} // namespace headroom::network
