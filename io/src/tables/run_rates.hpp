#pragma once

#include "tables/numbers.hpp"
#include "tables/step_rate.hpp"

#include "headroom/io/csv.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Rate of a column by the words of its head, else by those of all its cells: "131,072 tokens/s" below "throughput".
std::optional<StepRate> rate_of(CsvTable const& table, std::size_t column);

/// The column of a rate that a column of published runs holds; -1 where there is none.
int find_rate(CsvTable const& table, std::string_view column, std::vector<int> const& used);

/// Writes the numbers of a column of rates as those of the column that holds them.
void write_rates(CsvTable& table, std::size_t column, NumberMarks const& marks);

} // namespace headroom::io
