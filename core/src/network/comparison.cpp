#include "headroom/network/comparison.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::network {

namespace {

constexpr double tie = 1e-9;
constexpr int bisections = 60;

/// The first size in (low, high] whose fastest differs from that of `low`.
Bytes first_change(std::span<TimeOfSize const> algorithms, std::size_t below, Bytes low, Bytes high) {
    for (int i = 0; i < bisections && high.base() > low.base() * (1.0 + tie); ++i) {
        Bytes const middle{std::sqrt(low.base()) * std::sqrt(high.base())};
        (fastest_of(algorithms, {middle}) == below ? low : high) = middle;
    }
    return high;
}

} // namespace

double bus_bandwidth_factor(Collective collective, Ranks p) {
    double const others = (p.count() - 1.0) / p.count();
    switch (collective) {
    case Collective::all_reduce: return 2.0 * others;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
    case Collective::scatter:
    case Collective::gather: return others;
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::point_to_point: return 1.0;
    case Collective::barrier: return 0.0;
    }
    return 1.0;
}

std::size_t fastest_of(std::span<TimeOfSize const> algorithms, TotalBytes n) {
    std::size_t best = 0;
    Seconds least{};
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
        Seconds const time = algorithms[i](n);
        if (i == 0 || time < (1.0 - tie) * least) {
            best = i;
            least = time;
        }
    }
    return best;
}

std::vector<Crossover> crossovers(std::span<TimeOfSize const> algorithms, TotalBytes from, TotalBytes to) {
    std::vector<Crossover> found;
    if (algorithms.size() < 2) { return found; }
    Bytes low = from.size;
    std::size_t below = fastest_of(algorithms, {low});
    while (low < to.size) {
        Bytes const high = std::min(2.0 * low, to.size);
        while (fastest_of(algorithms, {high}) != below) { // more than two may take turns within one doubling
            Bytes const size = first_change(algorithms, below, low, high);
            std::size_t const above = fastest_of(algorithms, {size});
            found.push_back({{size}, below, above, algorithms[above]({size})});
            low = size;
            below = above;
        }
        low = high;
    }
    return found;
}

} // namespace headroom::network
