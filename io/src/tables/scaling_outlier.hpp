#pragma once

#include "headroom/io/scaling_table.hpp"

#include <optional>
#include <span>

namespace headroom::io {

/// A row that lies apart from all others, and its value over what they suggest.
struct ApartRow {
    std::size_t row = 0;
    double ratio = 1.0;
};

/// The one row that is 1.5x or more off the other rows of its count, or off the straight line between its neighbours on
/// logarithmic axes, where without it every other row is near. Empty where rows scatter, and beyond 200 rows.
std::optional<ApartRow> row_apart(std::span<ScalingRow const> rows);

} // namespace headroom::io
