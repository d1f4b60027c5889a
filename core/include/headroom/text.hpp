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

/// `text` with `?` for control characters, except line ends and tabs: a name from a file steers no terminal.
std::string printable(std::string_view text);

} // namespace headroom::text
