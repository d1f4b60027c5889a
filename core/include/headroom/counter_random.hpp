#pragma once

#include <cmath>
#include <cstdint>

namespace headroom {

/// Splitmix64: numbers that depend on a seed and a counter alone, the same on every machine and in every order.
class CounterRandom {
public:
    explicit constexpr CounterRandom(std::uint64_t seed) : seed_{seed} {}

    constexpr std::uint64_t next() {
        std::uint64_t z = seed_ + ++counter_ * 0x9E3779B97F4A7C15ULL;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31U);
    }

    /// In (0, 1): never an end.
    constexpr double uniform() { return (static_cast<double>(next() >> 11U) + 0.5) * 0x1p-53; }
    /// A wait without memory of mean 1.
    double exponential() { return -std::log(uniform()); }
    /// Below `bound`.
    constexpr int below(int bound) { return static_cast<int>(uniform() * bound); }

private:
    std::uint64_t seed_;
    std::uint64_t counter_ = 0;
};

} // namespace headroom
