#pragma once

#include <string_view>
#include <vector>

namespace headroom::io {

/// Reads what each rank had to do: the column `work` of a table with one row a rank, in any unit.
/// Errors: those of `read_csv`; InputError{unreadable} when there is no such column or no row, when an amount is not a
/// number or negative, or when all are zero. Each names the file and the line.
std::vector<double> read_work(std::string_view csv, std::string_view where);

} // namespace headroom::io
