#include "decimal.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace headroom {

Decimal rounded(double value, int digits) {
    std::array<char, 64> buffer{};
    auto const end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific, digits - 1)
            .ptr;
    std::string_view const text{buffer.data(), static_cast<std::size_t>(end - buffer.data())};
    Decimal result;
    result.value = value; // stays where rounding up would leave the range of a double
    std::from_chars(text.data(), text.data() + text.size(), result.value);
    std::size_t exponent = text.rfind('e') + 1;
    if (text[exponent] == '+') { ++exponent; }
    std::from_chars(text.data() + exponent, text.data() + text.size(), result.exponent);
    return result;
}

std::string fixed(Decimal number, int digits) {
    std::array<char, 1100> buffer{}; // the longest doubles have 309 digits before the point or 1074 after it
    int const decimals = std::max(0, digits - 1 - number.exponent);
    auto const end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), number.value, std::chars_format::fixed, decimals)
            .ptr;
    return {buffer.data(), end};
}

} // namespace headroom
