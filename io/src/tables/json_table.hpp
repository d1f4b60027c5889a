#pragma once

#include "headroom/io/csv.hpp"

#include <optional>
#include <string_view>

namespace headroom::io {

/// A table in a text of JSON: objects one behind the other (lines of JSON), the longest list of objects, objects under names,
/// one object, or lists of equal length under the names of columns. Objects within a row are columns under their last key, or
/// under the whole path where two have the same; values above the list are columns, too. A key that an object lacks is an empty
/// cell, a list within a row is one cell with its text. Empty for a text that is no JSON.
/// Errors: InputError{unreadable} on JSON that is damaged, or has no objects.
std::optional<CsvTable> json_table(std::string_view text, std::string_view where);

} // namespace headroom::io
