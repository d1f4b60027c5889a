#pragma once

#include "headroom/issue.hpp"
#include "headroom/training/validation.hpp"

#include <string_view>
#include <vector>

namespace headroom::io {

class Catalog;

/// Reads a published-runs table and turns every row into a question, or into the reason why not.
/// Gaps are filled by `assume`; which, is listed on the run. Columns that no rule reads are added to `issues`.
std::vector<training::PublishedRun> read_runs(std::string_view csv, std::string_view where, Catalog const& catalog,
                                              std::vector<Issue>* issues = nullptr);

} // namespace headroom::io
