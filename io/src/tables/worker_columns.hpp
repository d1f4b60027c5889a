#pragma once

#include "headroom/io/csv.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Whether a text behind a number says that it counts workers: "GPUs", "nodes", "x A100".
bool is_count_label(std::string_view text);
/// Whether a head counts workers of some sort.
bool counts_workers(std::string_view head);
/// Whether a head counts the repeats of one configuration.
bool counts_repeats(std::string_view head);

/// Appends a column of products where two columns count the workers together and none counts them all: nodes and GPUs of a
/// node, ranks and threads of a rank, P and Q of HPL. Returns the two and the new one; empty where there is nothing to do.
std::vector<int> multiply_workers(CsvTable& table);

/// Column of the worker counts: the one that is asked for, else of several counts the surest that varies, with a note.
/// Errors: InputError{usage} with the columns that are there.
int find_worker_column(CsvTable const& table, std::string_view where, std::string const& asked,
                       std::vector<std::string>& notes);

} // namespace headroom::io
