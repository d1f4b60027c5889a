#pragma once

#include "headroom/io/words.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// A number with three significant digits and no exponent where that stays readable; "-" when not finite.
std::string significant(double value, int digits = 3);

/// A ratio in percent, without the sign: 0.4123 -> "41.2". Less than a thousandth of a percent is 0.
std::string percent(double ratio, int digits = 3);

/// The nearest whole number.
std::string whole(double value);

/// A number with a scale letter: 1234567 -> "1.23M". Small ones stay as they are.
std::string scaled(double value, int digits = 3);

/// "1 rank", "8 ranks"
std::string counted(std::size_t count, std::string const& what);

/// Columns that a text takes on a terminal (one a code point).
std::size_t columns_of(std::string_view text);

/// Lines of at most `width` columns, broken at spaces; a longer word is cut.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

std::string join(std::vector<std::string> const& parts, std::string_view separator);

/// `text` with `?` for control characters, line ends and tabs apart: a name from a file steers no terminal.
std::string printable(std::string_view text);

using io::words::split;
using io::words::trimmed;

} // namespace headroom::cli
