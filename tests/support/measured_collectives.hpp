#pragma once

// Times of collectives made from known constants, with noise from a seed.

#include "headroom/network/measured_collective.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace headroom::test {

struct Protocol {
    double from, alpha, beta; ///< from this size on
};

/// Standard normal numbers from a seed, the same everywhere (splitmix64, Box and Muller).
class Normal {
public:
    explicit Normal(std::uint64_t seed) : state_{seed} {}
    double operator()() {
        double const u = uniform(), v = uniform();
        return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);
    }

private:
    double uniform() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
        return (static_cast<double>((z ^ (z >> 31U)) >> 11U) + 0.5) / 9007199254740992.0;
    }
    std::uint64_t state_;
};

inline double protocol_time(std::vector<Protocol> const& protocols, double bytes) {
    Protocol const* now = &protocols.front();
    for (Protocol const& one : protocols) {
        if (bytes >= one.from) { now = &one; }
    }
    return now->alpha + bytes * now->beta;
}

/// Sizes doubling from `first` on, each measured once, off by `noise` of the time.
inline std::vector<network::MeasuredCollective> measured(std::vector<Protocol> const& protocols, double first,
                                                         int sizes, double noise, std::uint64_t seed) {
    std::vector<network::MeasuredCollective> rows;
    Normal normal{seed};
    for (int i = 0; i < sizes; ++i) {
        network::MeasuredCollective row;
        row.ranks = 8;
        row.size = {Bytes{first * std::exp2(i)}};
        row.time = Seconds{protocol_time(protocols, row.size.size.base()) * std::exp(noise * normal())};
        rows.push_back(row);
    }
    return rows;
}

} // namespace headroom::test
