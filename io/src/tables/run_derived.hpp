#pragma once

#include "headroom/io/catalog.hpp"
#include "headroom/io/csv.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace headroom::io {

struct NumberMarks;

/// The number of a cell with a letter of thousands behind it: "131k", "1.2M", "11B"; empty for all else.
std::optional<double> scaled_number(std::string_view cell, NumberMarks const& marks);

/// Adds the columns that follow from others, where the table has none of them, and their places to `used`:
///
///     accelerators_total       nodes x accelerators_per_node; of "8xH100" and "v5p-128" among the accelerators
///     accelerators_per_node    of "2 nodes x 8 H100", and of an instance such as "p5.48xlarge"
///     power_limit_w            of "H100 (500W)"
///     global_batch_sequences   tokens of a batch over seq_len: of a column, or of cells such as "4M tokens"
///
/// Accelerators keep their name alone. `header` and numbers are those of validation/published_runs.csv already.
void add_derived_columns(CsvTable& table, std::vector<int>& used, Catalog const& catalog);

} // namespace headroom::io
