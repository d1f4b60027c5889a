#pragma once

#include "headroom/io/catalog.hpp"
#include "headroom/training/support.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Groups of measured runs of catalog/calibration/evidence.toml; empty where the catalog has none.
std::vector<training::RunGroup> run_groups(Catalog const& catalog);
std::vector<training::RunGroup> read_run_groups(std::string_view toml, std::string_view where);
std::string write_run_groups(std::vector<training::RunGroup> const& groups, std::vector<std::string> const& header);

/// Facts of the catalog that a question rests on, with their sources; `model` as it was named.
std::vector<training::KnownFact> known_facts(Catalog const& catalog, std::string const& model,
                                             training::Question const& question);

} // namespace headroom::io
