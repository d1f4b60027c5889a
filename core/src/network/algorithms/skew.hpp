#pragma once

#include "headroom/network/collective_algorithm.hpp"

#include <algorithm>

namespace headroom::network::algorithms {

/// Bytes that a rank holds for others in a skewed all-to-all, in which all send more to rank 0. A share z/p of its n
/// bytes is for rank 0 and the rest is for all other ranks alike. So rank 0 gets z times the mean, including its own.
///
///     to rank 0: z n/p        to each other rank: (1 - z/p) n/(p-1)        1 <= z <= p
struct Shares {
    explicit Shares(CollectiveCall const& call)
        : Shares(call.size.size.base(), call.layout.ranks, std::clamp(call.skew, 1.0, double(call.layout.ranks))) {}

    double busiest, other;
    bool even;

private:
    Shares(double n, double p, double z)
        : busiest{z * (n / p)}, other{z == 1.0 ? n / p : (1.0 - z / p) * n / (p - 1.0)}, even{z == 1.0} {}
};

} // namespace headroom::network::algorithms
