#pragma once

#include "traces/byte_source.hpp"
#include "traces/trace_builder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::io {

/// All bytes of a source at once, for formats that are small or cannot be read in parts.
class WholeText {
public:
    /// At most so many bytes; what lies behind is counted as an issue by `tell`.
    WholeText(ByteSource& source, std::uint64_t most);
    [[nodiscard]] std::string_view view() const { return view_; }
    /// Writes the sizes and the damage of the source into a trace.
    void tell(TraceBuilder& builder) const;

private:
    std::string held_;
    std::string_view view_;
    std::uint64_t bytes_read_ = 0;
    std::string damage_;
};

/// A name as text: what is no UTF-8, and control characters, become U+FFFD; at most 16 KiB of it.
std::string plain_name(std::string_view text);

/// A duration as whole nanoseconds, half of one upwards; empty when it is negative, not finite or beyond 2^61.
std::optional<std::int64_t> nanoseconds(double value, double nanoseconds_in_one);

/// A decimal number as whole multiples of a unit without a rounding in between: "12.345" microseconds are 12345 ns.
/// Digits beyond the unit round to the nearest, those behind the ninth are dropped; empty when it is no plain decimal
/// number or out of range. A unit is at most 10^9.
std::optional<std::int64_t> scaled_decimal(std::string_view text, std::int64_t unit);

/// Errors: InputError{insufficient}, always.
[[noreturn]] void no_events(std::string const& where, std::string problem, std::string why);

} // namespace headroom::io
