#pragma once

#include <optional>
#include <string_view>

namespace headroom::io {

/// Quantities whose units the heads and cells of a table name.
enum class CellMeasure { nothing, time, size, rate };

/// Unit of a number: number times `factor` over 10^`decimals` is in seconds, bytes or bytes a second. The two are kept
/// apart, so that a decimal number in milliseconds becomes the nearest double to it in seconds.
struct CellUnit {
    std::string_view name = {}; ///< "ms", whatever the spelling in the table; "1" for plain numbers
    double factor = 1.0;
    int decimals = 0;
    [[nodiscard]] double base(double number) const;
};

/// A unit by one of its names, whatever the case; empty when it is none of that quantity. A bare K, M or G of a size is
/// 1024, as benchmarks write sizes; kB is 1000 bytes.
std::optional<CellUnit> unit_named(CellMeasure measure, std::string_view name);
inline std::optional<CellUnit> time_unit(std::string_view name) { return unit_named(CellMeasure::time, name); }

} // namespace headroom::io
