#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headroom::serving {

/// "p99.9", "max", "min"
std::string percentile_name(double q);
/// "p99.9", and as it is spoken "p999", as 0.999; "median" as 0.5. Nothing for what is no percentile between 0 and 100.
std::optional<double> percentile_in(std::string_view text);

} // namespace headroom::serving
