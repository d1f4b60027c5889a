#pragma once

#include "headroom/validation.hpp"

#include <string_view>
#include <vector>

namespace headroom::io {

class Catalog;

/// Reads a published-runs table and turns every row into a question, or into the reason why not.
/// Gaps are filled by `assume`; which, is listed on the run.
std::vector<PublishedRun> read_runs(std::string_view csv, std::string_view where, Catalog const& catalog);

} // namespace headroom::io
