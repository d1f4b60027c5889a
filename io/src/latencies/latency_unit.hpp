#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headroom::io {

/// What a bare number is in: number times `factor` over 10^`decimals` seconds. Kept apart, so that a decimal number in
/// milliseconds becomes the nearest double to it in seconds.
struct LatencyUnit {
    std::string name = {}; ///< "ms"; "1" for plain numbers
    double factor = 1.0;
    int decimals = 0;
    [[nodiscard]] double seconds(double number) const;
};

/// "ms", "microseconds", "min", "h", whatever the case; empty for what is no unit of time.
std::optional<LatencyUnit> latency_unit(std::string_view name);
/// Of a question: also "1".
/// Errors: InputError{usage}.
LatencyUnit asked_unit(std::string const& name, std::string_view where);

/// What a cell of values holds.
struct LatencyCell {
    enum class Kind { bare, with_unit, empty, not_a_number, infinite, text };
    Kind kind = Kind::text;
    double value = 0.0; ///< a bare number as it stands, else seconds
};
/// "180", "180ms", "1m2.5s", "", "-", "NaN", "text".
LatencyCell latency_cell(std::string_view cell);

/// A duration as Go prints it: "1m2.5s", "350us", "0s". Empty for a bare number and all else.
std::optional<double> printed_duration(std::string_view text);

/// A number with digits alone, a point and an exponent; empty for all else, infinities and NaN among it.
std::optional<double> decimal_number(std::string_view text);

} // namespace headroom::io
