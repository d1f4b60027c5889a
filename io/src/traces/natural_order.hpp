#pragma once

#include <string_view>

namespace headroom::io {

/// Order of names as people have it: numbers by value ("rank2" before "rank10"), folders before what begins like them.
/// Total: names of equal numbers in other digits ("1", "01") follow by their bytes.
bool natural_less(std::string_view left, std::string_view right);

} // namespace headroom::io
