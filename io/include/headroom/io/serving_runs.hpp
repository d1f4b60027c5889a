#pragma once

#include "headroom/io/catalog.hpp"
#include "headroom/issue.hpp"
#include "headroom/serving/published_serving.hpp"

#include <string_view>
#include <vector>

namespace headroom::io {

/// Reads a table of measured serving: the columns of validation/published_serving.csv. Rows that do not state what a
/// prediction needs, or that the catalog does not know, say why in `skipped_reason`.
/// Errors: InputError{unreadable} on a broken table, a missing column, or a number that is none.
std::vector<serving::PublishedServing> read_serving_runs(std::string_view csv, std::string_view where,
                                                         Catalog const& catalog, std::vector<Issue>& issues);

} // namespace headroom::io
