#pragma once

#include "traces/chrome_numbers.hpp"

#include <cstdint>

namespace headroom::io {

/// A number of digits and perhaps a point: mantissa / 10^decimals.
struct PlainNumber {
    std::uint64_t mantissa = 0;
    int decimals = 0;
};

/// The largest whole numbers and powers of ten that are doubles themselves: a quotient of two of them is the nearest
/// double to the decimal number.
/// Source: [Clinger1990]
inline constexpr std::uint64_t exact_mantissa = std::uint64_t{1} << 53U;
inline constexpr int exact_power = 22;
inline constexpr double exact_powers[exact_power + 1]{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Reads such a number at `at`, and moves behind it; false for what is another, has more than 19 digits or more than 16
/// on one side of the point. Eight bytes behind the number must be readable.
inline bool read_plain(char const*& at, PlainNumber& number) {
    char const* const begin = at;
    std::uint64_t mantissa = 0;
    read_digits(at, mantissa);
    auto digits = at - begin;
    number.decimals = 0;
    if (*at == '.') {
        char const* const fraction = ++at;
        read_digits(at, mantissa);
        number.decimals = static_cast<int>(at - fraction);
        digits += at - fraction;
    }
    number.mantissa = mantissa;
    constexpr int fits = 19;
    return digits > 0 && digits <= fits && static_cast<unsigned char>(*at - '0') > 9;
}

/// A whole number of up to 19 digits, as times in nanoseconds are.
inline bool read_long_plain(char const*& at, PlainNumber& number) {
    char const* const begin = at;
    if (read_plain(at, number)) { return true; }
    if (number.decimals != 0 || at - begin != 16) { return false; }
    for (int i = 0; i < 3 && static_cast<unsigned char>(*at - '0') <= 9; ++i) {
        number.mantissa = 10 * number.mantissa + static_cast<std::uint64_t>(*at++ - '0');
    }
    return static_cast<unsigned char>(*at - '0') > 9 && *at != '.';
}

} // namespace headroom::io
