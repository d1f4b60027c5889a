#pragma once

#include "document/document.hpp"
#include "document/json.hpp"

#include "headroom/io/catalog.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// A model of the catalog: what its dimensions give, beside what its publisher prints.
struct ModelFacts {
    std::string name;
    std::string kind; ///< "dense", "moe", "hybrid" ...
    double parameters = 0.0;
    double active = 0.0; ///< touched by one token
    io::PublishedCount published;

    /// Counted over published, less one; nothing where nothing is published.
    [[nodiscard]] std::optional<double> difference() const;
};

ModelFacts model_facts(io::Catalog const& catalog, std::string const& name);

/// The members that a model's record has in JSON.
Json json_of(ModelFacts const& facts);

/// Two tables: the counts, and where the published ones are printed.
std::vector<Block> tables_of(std::vector<ModelFacts> const& models);
Sheet sheet_of(std::vector<ModelFacts> const& models);

} // namespace headroom::cli
