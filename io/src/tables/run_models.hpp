#pragma once

#include "tables/run_cells.hpp"

#include "headroom/io/catalog.hpp"
#include "headroom/training/model.hpp"

#include <map>
#include <string>

namespace headroom::io {

/// The name by which the catalog has a model: as written, without what is added to it in brackets ("ResNet-50 v1.5
/// [PaddlePaddle]"), or the record that `Catalog::model_named_like` reads ("Qwen/Qwen2.5-7B-Instruct"); as written where it
/// has none.
std::string name_in_catalog(std::string const& written, Catalog const& catalog);

/// The models that rows of a table of published runs name or describe; remembers records that many rows share.
class RunModels {
public:
    explicit RunModels(Catalog const& catalog) : catalog_{catalog} {}

    /// The catalog's model with the row's dimensions, or one in the common shape of its kind. Errors: Skip.
    training::Model model(RunCells const& row, training::PublishedRun& run);
    /// The catalog's model of that name; null when there is none.
    training::Model const* known_model(RunCells const& row) {
        std::string const name = catalog_name(row);
        return knows(name) ? &cached_model(name) : nullptr;
    }
    /// The name with the size that the table's heading adds ("Transformer-XL" under "Large model"), else
    /// `name_in_catalog`.
    [[nodiscard]] std::string catalog_name(RunCells const& row) const;

private:
    training::Model const& cached_model(std::string const& name);
    /// Whether the catalog has it. A name that is no file stem is compared with the aliases of all models.
    [[nodiscard]] bool knows(std::string const& name) const;

    Catalog const& catalog_;
    std::map<std::string, training::Model> models_;
    mutable std::map<std::string, bool> known_;
    mutable std::map<std::string, std::string> names_; ///< in the catalog, of those that rows state
};

} // namespace headroom::io
