#pragma once

#include "tables/columns.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// The column of values (or field of an object) by its name: "latency_ms", "responseTime", "elapsed (us)". A time of
/// sending is none.
/// Errors: InputError{usage} where two fit alike.
ColumnMatch value_column(std::vector<std::string> const& names, std::string_view where);
/// The column of times at which requests were sent, other than that of values: "timestamp", "start_time", "ts".
ColumnMatch time_column(std::vector<std::string> const& names, int values);
/// "ms" of a column whose head ends in it; empty where it ends in none.
std::string unit_of_column(ColumnMatch const& match);

} // namespace headroom::io
