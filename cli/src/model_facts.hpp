#pragma once

#include "headroom/document/document.hpp"
#include "headroom/io/catalog_answer.hpp"

#include <vector>

namespace headroom::cli {

using namespace headroom::document;

using io::ModelFacts;

/// Two tables: the counts, and where the published ones are printed.
std::vector<Block> tables_of(std::vector<ModelFacts> const& models);

} // namespace headroom::cli
