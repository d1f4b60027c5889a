#pragma once

#include "tables/scaling_columns.hpp"

#include "headroom/io/csv.hpp"
#include "headroom/io/scaling_table.hpp"

#include <string_view>

namespace headroom::io {

/// "seconds" and the other words of `ScalingTableQuestion::quantity`. Errors: InputError{usage}.
ScalingQuantity scaling_quantity(std::string_view word, std::string_view where);

/// Whether a head names times, throughputs, speedups or efficiencies.
bool is_value_head(std::string_view head);
/// Whether a head names a rate of work of all workers, or of one of them.
enum class RateInHead { none, of_all, of_one };
RateInHead rate_in_head(std::string_view head);
/// Fills in the values, their unit and quantity by what the heads say; `columns.workers` is known.
/// Errors: InputError{usage} where there is none, or several are series of their own.
void find_value(CsvTable const& table, std::string_view where, ScalingTableQuestion const& question,
                ScalingColumns& columns);
/// Fills in those of the column that the question names.
/// Errors: InputError{usage} where nobody says what quantity it holds.
void find_named_value(CsvTable const& table, std::string_view where, ScalingTableQuestion const& question,
                      ScalingColumns& columns);

} // namespace headroom::io
