#pragma once

#include <optional>
#include <string_view>

namespace headroom::io {

/// Quantities whose units the heads and cells of a table name.
enum class CellMeasure { nothing, time, size, rate, power };

/// Unit of a number: number times `factor` over 10^`decimals` is in seconds, bytes, bytes a second or watts. The two are kept
/// apart, so that a decimal number in milliseconds becomes the nearest double to it in seconds.
struct CellUnit {
    std::string_view name = {}; ///< "ms", whatever the spelling in the table; "1" for plain numbers
    double factor = 1.0;
    int decimals = 0;
    [[nodiscard]] double base(double number) const;
};

/// A unit by one of its names, whatever the case; empty when it is none of that quantity. A bare K, M or G of a size is
/// 1024, as benchmarks write sizes; kB is 1000 bytes.
/// `bracketed`: those that are units in the brackets of a head only, too: "d" is a day there.
std::optional<CellUnit> unit_named(CellMeasure measure, std::string_view name, bool bracketed = false);
inline std::optional<CellUnit> time_unit(std::string_view name) { return unit_named(CellMeasure::time, name); }
/// Unit of time of a head or of a column of units: a day among them.
inline std::optional<CellUnit> stated_time_unit(std::string_view name) {
    return unit_named(CellMeasure::time, name, true);
}

} // namespace headroom::io
