#pragma once

#include <optional>
#include <string_view>

namespace headroom {

/// "35%" and "0.35" as 0.35, of any size and sign; nothing where the text is no finite number.
std::optional<double> share_in(std::string_view text);

} // namespace headroom
