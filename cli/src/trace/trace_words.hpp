#pragma once

#include "headroom/trace/trace_answer.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// "12.3 ms", "0 s"
std::string time_words(double ns);

/// A unit of time that a whole table has.
struct TimeUnit {
    char const* name; ///< "ms"
    double ns;        ///< of one
};
/// The unit in which the longest of a table's times is at least one.
TimeUnit unit_for(double longest_ns);
/// A time in a table's unit, without the unit.
std::string in_unit(double ns, TimeUnit unit);

/// "0", "0 and 6", "0, 3 and 6", and of many the first few: "0, 1, 2 and 61 more".
std::string list_words(std::vector<std::int64_t> const& numbers);
/// "rank 3", "ranks 0 and 6"
std::string rank_words(std::vector<std::int64_t> const& ranks);

/// A name of a kernel that fits: control characters replaced, its middle left out where it is longer.
std::string kernel_words(std::string const& name, std::size_t width);

/// Name of a trace's kind in tables and drawings.
std::string_view kind_words(trace::SpanKind kind);

} // namespace headroom::cli
