#pragma once

#include <string>
#include <string_view>

namespace headroom::io {

/// Errors: InputError{unreadable} on what the parser must not see: deep nesting, on which it recurses, and letters
/// beyond ASCII outside of texts and comments, on which its character classes are undefined.
void require_readable_toml(std::string_view text, std::string_view where);

/// A number as TOML has it, the shortest that reads back the same. Contract: finite.
std::string toml_number(double value);

/// A text between double quotes.
std::string toml_string(std::string_view text);

/// The text as a comment line, line breaks and control characters as spaces.
std::string toml_comment(std::string_view text);

} // namespace headroom::io
