#pragma once

#include "headroom/serving/latency_histogram.hpp"

#include <bit>
#include <cstdint>

namespace headroom::serving::histogram_cells {

inline constexpr int mantissa_bits = 52;
inline constexpr int cell_bits = 10;
static_assert(1 << cell_bits == LatencyHistogram::cells_per_octave);
inline constexpr std::uint64_t bias = 1023;

/// Exponent and upper bits of the mantissa: the number of a value's cell, counted from 2^-1023.
constexpr std::uint64_t key_of(double value) {
    return std::bit_cast<std::uint64_t>(value) >> static_cast<unsigned>(mantissa_bits - cell_bits);
}
constexpr double low_of(std::uint64_t key) {
    return std::bit_cast<double>(key << static_cast<unsigned>(mantissa_bits - cell_bits));
}
constexpr double middle_of(std::uint64_t key) { return 0.5 * (low_of(key) + low_of(key + 1)); }

inline constexpr std::uint64_t first_key =
    static_cast<std::uint64_t>(LatencyHistogram::least_exponent + static_cast<int>(bias)) << cell_bits;
inline constexpr std::uint64_t octaves =
    static_cast<std::uint64_t>(LatencyHistogram::most_exponent - LatencyHistogram::least_exponent + 1);
inline constexpr std::uint64_t places = octaves << cell_bits;
inline constexpr double smallest = low_of(first_key);
inline constexpr double beyond = low_of(first_key + places);

/// Where a value's cell stands among all; `places` and more for zero and what is below `smallest`, and for what no
/// histogram takes.
constexpr std::uint64_t place_of(double value) { return key_of(value) - first_key; }

/// Errors: InputError{usage} for what no histogram takes.
void check(double value);

} // namespace headroom::serving::histogram_cells
