#include "traces/chrome_numbers.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace headroom::io {
namespace {

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

/// A decimal number in parts: its digits with the first one not zero, and where the point stands.
struct DecimalDigits {
    char digits[24] = {};
    int count = 0;          ///< of those that are kept
    std::int64_t point = 0; ///< the number is 0.digits times ten to this power
};

/// Reads digits and the point; false where there is no digit. `at` moves behind them.
bool read_decimal(std::string_view text, std::size_t& at, DecimalDigits& number) {
    bool any = false, behind = false;
    for (; at < text.size(); ++at) {
        if (text[at] == '.' && !behind) {
            behind = true;
            continue;
        }
        if (!is_digit(text[at])) { break; }
        any = true;
        bool const leading = number.count == 0 && text[at] == '0';
        if (!leading && number.count < 24) { number.digits[number.count++] = text[at]; }
        if (!leading && !behind) { ++number.point; }
        if (leading && behind) { --number.point; }
    }
    return any;
}

/// The exponent at `at`, if there is one; false where its digits are missing.
bool read_exponent(std::string_view text, std::size_t& at, std::int64_t& exponent) {
    if (at == text.size() || (text[at] != 'e' && text[at] != 'E')) { return true; }
    ++at;
    bool const negative = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) { ++at; }
    if (at == text.size()) { return false; }
    for (; at < text.size() && is_digit(text[at]); ++at) {
        exponent = std::min<std::int64_t>(exponent * 10 + (text[at] - '0'), 1'000'000'000);
    }
    if (negative) { exponent = -exponent; }
    return true;
}

} // namespace

bool read_thousandths(std::string_view text, std::int64_t& value) {
    std::size_t at = 0;
    bool const negative = !text.empty() && text[0] == '-';
    if (negative || (!text.empty() && text[0] == '+')) { ++at; }
    DecimalDigits number;
    std::int64_t exponent = 0;
    if (!read_decimal(text, at, number) || !read_exponent(text, at, exponent) || at != text.size()) { return false; }
    std::int64_t const places = number.point + exponent + 3; // digits before the point of the result
    if (number.count == 0 || places < 0) {
        value = 0;
        return true;
    }
    if (places > 19) { return false; }
    std::uint64_t whole = 0;
    for (int i = 0; i < places; ++i) {
        whole = whole * 10 + static_cast<std::uint64_t>(i < number.count ? number.digits[i] - '0' : 0);
    }
    if (places < number.count && number.digits[places] >= '5') { ++whole; }
    if (whole > std::uint64_t{1} << 62) { return false; }
    value = negative ? -static_cast<std::int64_t>(whole) : static_cast<std::int64_t>(whole);
    return true;
}

bool read_whole(std::string_view text, std::int64_t& value) {
    bool const hexadecimal = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (hexadecimal) {
        std::uint64_t bits = 0;
        auto const [stop, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
        value = static_cast<std::int64_t>(bits & static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
        return error == std::errc{} && stop == text.data() + text.size();
    }
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && stop == text.data() + text.size()) { return true; }
    std::int64_t thousandths = 0;
    if (!read_thousandths(text, thousandths)) { return false; }
    value = thousandths / 1000;
    return true;
}

} // namespace headroom::io
