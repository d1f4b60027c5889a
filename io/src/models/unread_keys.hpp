#pragma once

#include "json_keys.hpp"

#include <string_view>

namespace headroom::io {

/// Whether a key that nobody read may change what is counted.
bool may_change_counts(std::string_view key);
/// Whether a key of an unknown type names a table of another size or a part with a configuration of its own.
bool names_another_part(JsonKeys const& keys, std::string_view key);

} // namespace headroom::io
