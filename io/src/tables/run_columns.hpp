#pragma once

#include "headroom/io/csv.hpp"
#include "headroom/issue.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A table of measured runs with its columns under the names of validation/published_runs.csv, also where they have
/// usual other ones ("Model", "# GPUs", "Step time (ms)"), and its numbers as programs write them, in the units of those.
/// Errors: InputError{unreadable} that names every column that is missing.
CsvTable read_run_table(std::string_view csv, std::string_view where, std::vector<Issue>& issues);

struct NumberMarks;

/// The number of a cell with a letter of thousands behind it: "131k", "1.2M", "11B"; empty for all else.
std::optional<double> scaled_number(std::string_view cell, NumberMarks const& marks);

/// Adds the columns that follow from others, where the table has none of them, and their places to `used`:
///
///     accelerators_total       nodes x accelerators_per_node; of "8xH100" among the accelerators
///     power_limit_w            of "H100 (500W)"
///     global_batch_sequences   tokens of a batch over seq_len: of a column, or of cells such as "4M tokens"
///
/// Accelerators keep their name alone. `header` and numbers are those of validation/published_runs.csv already.
void add_derived_columns(CsvTable& table, std::vector<int>& used);

} // namespace headroom::io
