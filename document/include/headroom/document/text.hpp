#pragma once

#include "headroom/io/words.hpp"
#include "headroom/text.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::document {

using headroom::text::counted;
using headroom::text::join;
using headroom::text::percent;
using headroom::text::printable;
using headroom::text::printable_lines;
using headroom::text::significant;

/// The nearest whole number.
std::string whole(double value);

/// A number with a scale letter: 1234567 -> "1.23M". Small ones stay as they are.
std::string scaled(double value, int digits = 3);

/// Columns that a text takes on a terminal (one a code point).
std::size_t columns_of(std::string_view text);

/// Columns of the longest word, between blanks.
std::size_t longest_word(std::string_view text);
/// Columns that a word keeps for itself in a table.
inline constexpr std::size_t most_of_a_word = 16;

/// Lines of at most `width` columns, broken at spaces; a longer word is cut, behind a hyphen or the like where one is near.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

using io::words::split;
using io::words::trimmed;

} // namespace headroom::document
