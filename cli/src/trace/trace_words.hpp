#pragma once

#include "headroom/trace_answer.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// Seconds of a whole number of nanoseconds.
constexpr double seconds_of_ns(double ns) { return ns / 1e9; }
constexpr double seconds_of(Ticks ns) { return seconds_of_ns(static_cast<double>(ns)); }

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

/// What the trace's kinds are called in tables and drawings.
std::string_view kind_words(SpanKind kind);

/// Whether the trace says when things ran: a table of totals does not, and what overlaps or idles is unknown.
bool knows_when(RankDigest const& rank);
bool knows_when(TraceAnswer const& answer);

/// Device times of all ranks together.
DeviceTimes sum_of(std::vector<RankDigest> const& ranks);
IdleShares idle_sum_of(std::vector<RankDigest> const& ranks);

/// All kernels of all ranks, by name and kind, longest total first.
std::vector<NameTotal> kernels_of(std::vector<RankDigest> const& ranks);

} // namespace headroom::cli
