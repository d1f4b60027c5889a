#pragma once

#include "headroom/io/csv.hpp"

#include <functional>
#include <string_view>

namespace headroom::io {

/// Brings a table of measured runs into rows with one head each:
///
///     groups     "config.seq_len" and "summary.step_time" of an export are seq_len and step_time
///     transposed heads in the first column, a run in each other column
///     two lines  "GPUs,," above "type,count,": the second line's words behind those of the first
///     degrees    "TP×PP×DP" with "2x1x8" is three columns, and so is "parallelism" with "TP2 PP4"
///
/// `is_head`: whether a text names a column of such a table.
void arrange_runs(CsvTable& table, std::function<bool(std::string_view)> const& is_head);

} // namespace headroom::io
