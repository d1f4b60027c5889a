#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// How the times of a trace are written.
enum class TimeText { unknown, bare, with_unit, date };

/// A time as whole nanoseconds, and how it was written.
struct TimeCell {
    std::int64_t nanoseconds = 0;
    TimeText text = TimeText::unknown;
};

/// Reads "2023-11-16 18:15:46.6805900", "2023-11-16T18:15:46Z", "12.5ms" and "12.5"; nothing where it is none of these,
/// or beyond 290 years. `unit_seconds`: of bare numbers.
std::optional<TimeCell> time_from(std::string_view text, double unit_seconds);

/// Whole tokens, not negative; nothing for anything else.
std::optional<double> tokens_from(std::string_view text);

/// Seconds in a unit of time that a header may name ("ms", "seconds"); nothing where it names none.
std::optional<double> unit_of_time(std::string_view name);

/// A header without its unit: "arrival_ms", "arrival (ms)" and "arrival [ms]" are "arrival" and "ms".
struct NamedColumn {
    std::string name; ///< lower case, letters and digits alone
    std::string unit; ///< empty: none
};
NamedColumn named_column(std::string_view header);

} // namespace headroom::io
