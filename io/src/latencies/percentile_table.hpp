#pragma once

#include "latencies/report_lines.hpp"
#include "latencies/sample_builder.hpp"

#include <string_view>

namespace headroom::io {

/// Whether a line heads a table of percentiles: "Value Percentile TotalCount 1/(1-Percentile)", in any notation.
bool is_percentile_header(std::string_view line);
/// Unit in the name of the first column: "Value(ms)"; empty: none.
std::string_view unit_of_percentile_header(std::string_view line);

/// Takes the rows of a table, whose header was just given by `lines`, up to a line that is no row, which is `rest` then.
/// The samples by which the count of all grows from a row to the next lie between their values, and are taken to be at the
/// upper one. Quantiles that were stated before stand among the rows: the finer statement holds.
/// Values are in the unit of `samples`.
void read_percentile_rows(TextLines& lines, SampleBuilder& samples, std::string_view& rest);

} // namespace headroom::io
