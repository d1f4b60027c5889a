#pragma once

#include "headroom/fields.hpp"
#include "headroom/io/catalog.hpp"

#include <memory>
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

/// Blocks of one kind in a model.
struct LayerKind {
    std::string mixer;        ///< "attention", "gated delta rule" ...
    std::string feed_forward; ///< "dense 11,008", "8 of 128 experts, 768 wide" ...
    int count = 0;
    std::string layers;      ///< "1-3, 5-7 and 12 more"
    double parameters = 0.0; ///< of one block
    double active = 0.0;     ///< of them, touched by one token
};

/// A property that a description of a model leaves open, and the choice made.
struct ModelAssumption {
    std::string field, value, reason;
};

/// A description of a model as it was read.
struct ModelReading {
    std::string read_as; ///< type whose row of the table it was read by
    std::vector<LayerKind> layers;
    double embedding = 0.0, head = 0.0; ///< parameters, all that is in no block and is no head; and of the head
    int prediction_layers = 0;          ///< that predict later tokens; not in the parameters, as people quote them
    double prediction = 0.0;            ///< parameters of these
    double least = 0.0, most = 0.0;     ///< bounds of the parameters
    bool understood = true;
    std::vector<ModelAssumption> assumed;
    std::vector<Issue> issues;
};
ModelReading model_reading(training::Model const& model);

/// A record of the catalog in a line.
struct CatalogRecord {
    RecordText const* record = nullptr;
    std::string facts;
    std::optional<ModelFacts> model = {};     ///< of a model that reads
    std::optional<ModelReading> reading = {}; ///< of a model that is shown
    bool with_text = false;                   ///< whether the answer holds the text of the record
};
/// Record in words; if it cannot be read, the reason.
CatalogRecord catalog_record(Catalog const& catalog, RecordText const& record);

/// Answer of `headroom catalog list`.
struct CatalogList {
    std::vector<CatalogRecord> records;
};
/// Answer of `headroom catalog show`.
struct CatalogShow {
    CatalogRecord record;
    std::unique_ptr<RecordText> file = {};  ///< of a file that is no record
    std::unique_ptr<std::string> text = {}; ///< of that file
};
/// A record, with each kind of layer of a model.
CatalogShow show_record(Catalog const& catalog, RecordText const& record);
/// The model of a file, as a record.
CatalogShow show_model_file(Catalog const& catalog, std::string const& what);

FieldTable const& field_table_of(LayerKind const*);
FieldTable const& field_table_of(ModelAssumption const*);
FieldTable const& field_table_of(ModelReading const*);

FieldTable const& field_table_of(ModelFacts const*);
FieldTable const& field_table_of(CatalogRecord const*);
FieldTable const& field_table_of(CatalogList const*);
FieldTable const& field_table_of(CatalogShow const*);

} // namespace headroom::io
