#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::io::launch {

/// Integer that an expression of a shell gives, as in $((A * 8)); none where it cannot be evaluated: an unknown variable, a
/// division by zero, an overflow. `value_of` gives the text of a variable.
std::optional<long long> shell_integer(std::string_view expression,
                                       std::function<std::string(std::string const&)> const& value_of);

} // namespace headroom::io::launch
