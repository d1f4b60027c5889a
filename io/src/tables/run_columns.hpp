#pragma once

#include "headroom/io/catalog.hpp"
#include "headroom/io/csv.hpp"
#include "headroom/issue.hpp"

#include <string_view>
#include <vector>

namespace headroom::io {

/// A table of measured runs with its columns under the names of validation/published_runs.csv, also where they have
/// usual other ones ("Model", "# GPUs", "Step time (ms)") in any layout of `arrange_runs`, and its numbers as programs write them, in the units of those.
/// Errors: InputError{unreadable} that names every column that is missing.
CsvTable read_run_table(std::string_view csv, std::string_view where, Catalog const& catalog,
                        std::vector<Issue>& issues);

} // namespace headroom::io
