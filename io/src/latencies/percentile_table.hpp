#pragma once

#include "latencies/report_lines.hpp"
#include "latencies/sample_builder.hpp"

#include <cstdint>
#include <string_view>

namespace headroom::io {

/// Whether a line heads a table of percentiles: "Value Percentile TotalCount 1/(1-Percentile)", in any notation.
bool is_percentile_header(std::string_view line);
/// What the name of its first column says: "Value(ms)"; empty: nothing.
std::string_view unit_of_percentile_header(std::string_view line);

/// Takes the rows of a table, whose header was just given by `lines`, up to a line that is no row. What the count of all
/// grows by from a row to the next lies between their values, and is taken to be at the upper one.
/// Values are in the unit of `samples`.
void read_percentile_rows(TextLines& lines, SampleBuilder& samples);

} // namespace headroom::io
