#pragma once

#include "headroom/io/csv.hpp"

#include <optional>
#include <string_view>

namespace headroom::io {

/// A table in a text of JSON whose objects are rows and their keys heads: objects one behind the other (lines of JSON), in a
/// list, or in a list of an object. A key that an object lacks is an empty cell; lists and objects within are left out.
/// Empty for a text that is no JSON. Errors: InputError{unreadable} on JSON that is damaged, or has no objects.
std::optional<CsvTable> json_table(std::string_view text, std::string_view where);

} // namespace headroom::io
