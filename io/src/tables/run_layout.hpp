#pragma once

#include "headroom/io/csv.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

/// A text whose lines above the heads are empty where each holds one cell, a title; `issues` count them.
std::string without_titles(std::string_view csv, std::function<bool(std::string_view)> const& is_head,
                           std::vector<Issue>& issues);

/// Makes one table of parts: heads that stand again between the rows are left out, cells that say nothing become empty, and a
/// row without a model has model, accelerator, length and batch of the row above, as merged cells are saved.
///
/// Errors: InputError where other heads stand between the rows.
void join_parts(CsvTable& table, std::string_view where, std::function<bool(std::string_view)> const& is_head,
                std::vector<Issue>& issues);

} // namespace headroom::io
