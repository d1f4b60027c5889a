#pragma once

#include <cstdint>
#include <string_view>

namespace headroom::io {

/// The number of decimal digits at `at`, moved behind them; at most 16 of them are taken into `value`, which is what
/// shows longer ones: the next byte is a digit. Eight bytes behind any place must be readable.
inline void read_digits(char const*& at, std::uint64_t& value) {
    constexpr std::uint64_t powers[]{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    for (int eights = 0; eights < 2; ++eights) {
        std::uint64_t bytes = 0;
        __builtin_memcpy(&bytes, at, 8);
        // The lowest byte that is not a digit has its highest bit here; those above it may have it for no reason.
        std::uint64_t const others =
            ((bytes + 0x4646464646464646U) | (bytes - 0x3030303030303030U)) & 0x8080808080808080U;
        unsigned const count = others == 0 ? 8 : static_cast<unsigned>(__builtin_ctzll(others)) / 8;
        if (count == 0) { return; }
        std::uint64_t eight = (bytes << (64 - 8 * count)) & 0x0f0f0f0f0f0f0f0fU; // digits behind leading zeros
        eight = (eight * 2561) >> 8;
        eight = ((eight & 0x00ff00ff00ff00ffU) * 6553601) >> 16;
        eight = ((eight & 0x0000ffff0000ffffU) * 42949672960001U) >> 32;
        value = value * (count == 8 ? 100000000 : powers[count]) + eight;
        at += count;
        if (count != 8) { return; }
    }
}

/// Decimal text as an exact whole number of thousandths: micros as nanoseconds. Of more than three decimals the rest is
/// rounded, half away from zero. Exponents are taken; what is no number, or beyond 2^62, gives false.
bool read_thousandths(std::string_view text, std::int64_t& value);

/// Decimal or hexadecimal ("0x1f") text as a whole number, decimals cut off; false for what is none.
bool read_whole(std::string_view text, std::int64_t& value);

/// Whether a stated number can be a rank: larger ones are times or processes, and -1 says that there is none.
constexpr bool can_be_rank(std::int64_t number) { return number >= 0 && number < 1'000'000; }

} // namespace headroom::io
