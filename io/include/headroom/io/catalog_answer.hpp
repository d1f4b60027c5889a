#pragma once

#include "headroom/fields.hpp"
#include "headroom/io/catalog.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::io {

/// Parameters of a model of the catalog: counted from its dimensions, and as published.
struct ModelFacts {
    std::string name;
    std::string kind; ///< "dense", "moe", "hybrid" ...
    double parameters = 0.0;
    double active = 0.0; ///< touched by one token
    PublishedCount published;

    /// Counted over published, less one; empty where nothing is published.
    [[nodiscard]] std::optional<double> difference() const;
};
ModelFacts model_facts(Catalog const& catalog, std::string const& name);

/// A record of the catalog in a line.
struct CatalogRecord {
    RecordText const* record = nullptr;
    std::string facts;
    std::optional<ModelFacts> model = {}; ///< of a model that reads
    bool with_text = false;               ///< whether the answer holds the text of the record
};
/// What a record says, in words; of one that cannot be read why.
CatalogRecord catalog_record(Catalog const& catalog, RecordText const& record);

/// Answer of `headroom catalog list`.
struct CatalogList {
    std::vector<CatalogRecord> records;
};
/// Answer of `headroom catalog show`.
struct CatalogShow {
    CatalogRecord record;
};

FieldTable const& field_table_of(ModelFacts const*);
FieldTable const& field_table_of(CatalogRecord const*);
FieldTable const& field_table_of(CatalogList const*);
FieldTable const& field_table_of(CatalogShow const*);

} // namespace headroom::io
