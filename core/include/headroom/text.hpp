#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::text {

/// A number with three significant digits and no exponent where that stays readable; "-" when not finite.
std::string significant(double value, int digits = 3);

/// A ratio in percent, without the sign: 0.4123 -> "41.2". Less than a thousandth of a percent is 0.
std::string percent(double ratio, int digits = 3);

/// "1 rank", "8 ranks"
std::string counted(std::size_t count, std::string const& what);

std::string join(std::vector<std::string> const& parts, std::string_view separator);

/// The first character of UTF-8 text.
struct Character {
    std::size_t length = 0; ///< in bytes; 0: the bytes are no character of UTF-8
    bool steers = false;    ///< a control (C0, DEL, C1), a line separator, or a change of the direction of writing
};
Character first_character(std::string_view text);

/// One line of text that steers no terminal: blanks for line ends and tabs, `?` for other characters that steer and for
/// bytes that are no UTF-8. Text of more than `limit` bytes is cut, and ends in "...".
std::string printable(std::string_view text, std::size_t limit = std::string_view::npos);
/// Lines of text that steer no terminal; line ends stay.
std::string printable_lines(std::string_view text);

} // namespace headroom::text
