#pragma once

#include "tables/columns.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// The column of values (or field of an object) by its name: "latency_ms", "responseTime", "elapsed (us)". A time of
/// sending is none.
/// Errors: InputError{usage} where two fit alike, or the only one holds no samples.
ColumnMatch value_column(std::vector<std::string> const& names, std::string_view where);
/// Refuses a name of what sums up many samples or is a setting: "p99_latency_ms", "timeout_ms". Errors: InputError{usage}.
void refuse_no_samples(std::string const& name, std::string_view where);
/// The column of times at which requests were sent, other than that of values: "timestamp", "start_time", "ts".
ColumnMatch time_column(std::vector<std::string> const& names, int values);
/// Whether a table is a scalar that TensorBoard exports: wall time, step, value.
bool is_tensorboard_scalar(std::vector<std::string> const& names);
/// The values of such a table, with their unit where the tag in the file's name ends in one.
/// Errors: InputError{usage} where that name does not say that the values are times.
ColumnMatch tensorboard_value(std::string_view path);
/// "ms" of a column whose head ends in it; empty where it ends in none.
std::string unit_of_column(ColumnMatch const& match);

/// Whether the cell of a column of units states the unit of the first row. Errors: InputError{usage} at `where` and the line
/// where it states another unit of time.
bool states_unit(std::string_view cell, std::string_view first, std::string_view where, std::uint64_t line);

} // namespace headroom::io
