#pragma once

#include "headroom/io/model_config.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/machine.hpp"
#include "headroom/network/nccl_tuning.hpp"
#include "headroom/serving/engine.hpp"
#include "headroom/training/calibration.hpp"
#include "headroom/training/framework.hpp"
#include "headroom/training/model.hpp"
#include "headroom/training/optimizer.hpp"
#include "headroom/training/stated_calibration.hpp"
#include "headroom/training/validation.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

using headroom::training::MeasuredEntry;
using headroom::training::PartialCalibration;

enum class RecordKind {
    accelerator,
    link,
    node,
    host,
    price,
    model,
    framework,
    optimizer,
    strategy,
    library,
    engine,
    calibration
};
std::string_view name_of(RecordKind kind);

/// Where a record was found, so that errors and results can say it.
struct RecordText {
    RecordKind kind = RecordKind::model;
    std::string name;   ///< file stem
    std::string origin; ///< "embedded:catalog/models/llama-3-70b.toml" or a path
    std::string_view content;
};

/// The list prices known for one accelerator.
struct PriceRange {
    DollarsPerSecond median, low, high;
    int offers = 0;
    std::string oldest, newest; ///< dates as written
};

/// Parameters as a model's publisher prints them; 0 where none are printed to three digits.
struct PublishedCount {
    double total = 0.0;
    double active = 0.0; ///< touched by one token
    std::string source;  ///< where they are printed
};

/// Record that a name means which is neither a record's name nor an alias, and why; empty where there is none.
struct ModelNameReading {
    std::string record, reason;
};

/// Records by name: overlays first (`--catalog`, ./headroom/catalog, XDG), then embedded. A record
/// replaces a record whole. Parsed lazily: only what is asked for, by file stem, then by alias.
class Catalog {
public:
    /// `overlay`: extra folders, first wins. The standard places are looked up by the caller.
    explicit Catalog(std::vector<std::filesystem::path> const& overlay = {});
    ~Catalog();
    Catalog(Catalog&&) noexcept;
    Catalog& operator=(Catalog&&) noexcept;

    /// All record names of a kind, sorted.
    [[nodiscard]] std::vector<std::string> names(RecordKind kind) const;
    /// Names and aliases of the records of a kind, for suggestions on a mistyped name.
    [[nodiscard]] std::vector<std::string> names_and_aliases(RecordKind kind) const;
    /// The record's text; of a model also by a name that `model_named_like` reads. Errors: InputError{usage} with `suggestion`.
    [[nodiscard]] RecordText const& text(RecordKind kind, std::string_view name_or_alias) const;

    [[nodiscard]] Accelerator accelerator(std::string_view name) const;
    [[nodiscard]] training::Model model(std::string_view name) const;
    /// Kind of model that a record states ("dense", "moe", "hybrid"), and its published parameters.
    [[nodiscard]] std::string model_kind(std::string_view name) const;
    [[nodiscard]] PublishedCount published_count(std::string_view name) const;
    /// Whether a record has this name or alias.
    [[nodiscard]] bool has_model(std::string_view name) const;
    /// Reads a name of a tuned variant or a copy as that of the model whose dimensions it has: "org/Llama-3-8B-Instruct" is
    /// llama-3-8b. A name that is a record's, or that says more than that, is not read.
    [[nodiscard]] ModelNameReading model_named_like(std::string_view name) const;
    /// Hint on a name that no record has: the models whose names continue it, else the nearest name; empty where none is near.
    [[nodiscard]] std::string suggestion(RecordKind kind, std::string_view name) const;
    [[nodiscard]] bool has_accelerator(std::string_view name) const;
    [[nodiscard]] bool has_node(std::string_view name) const;
    [[nodiscard]] bool has_link(std::string_view name) const;
    /// A node record as a cluster: accelerator, links, and the median on-demand price.
    [[nodiscard]] Cluster cluster(std::string_view node_name) const;
    /// The node usually built around an accelerator: what a bare accelerator name means.
    [[nodiscard]] std::string default_node(std::string_view accelerator_name) const;
    [[nodiscard]] training::Framework framework(std::string_view name) const;
    [[nodiscard]] training::Optimizer optimizer(std::string_view name) const;
    [[nodiscard]] serving::Engine engine(std::string_view name) const;
    /// Constants of serving.
    [[nodiscard]] serving::ServingCalibration serving_calibration() const;
    [[nodiscard]] StrategyRecord strategy(std::string_view name) const;
    [[nodiscard]] std::optional<PriceRange> price(std::string_view accelerator_name) const;
    /// Constants of a calibration, with the spread of memory of the record `memory` where there is one.
    [[nodiscard]] training::CalibrationSet calibration(std::string_view name) const;
    /// The constants by which NCCL chooses how to run a collective.
    [[nodiscard]] network::NcclTuning nccl_tuning() const;
    /// FNV-1a over names and texts of all embedded records and overlays: stamped on every result.
    [[nodiscard]] std::string hash() const;

private:
    struct Index;
    std::unique_ptr<Index> index_;
};

/// A file that describes a model, and what it was read as.
struct ModelFile {
    std::string path, text;
    ModelConfig config;
};
/// Reads a config.json (file, folder, or name in the local hub cache) or a .toml file.
ModelFile read_model_file(Catalog const& catalog, std::string const& what);
/// Whether a text names a file, rather than a record of the catalog.
bool names_model_file(std::string const& what);

/// The catalog's record of a model as a person names it; a file or a folder of that name goes before a name that is only
/// like that of a record.
ModelNameReading model_meant_by(Catalog const& catalog, std::string const& what);

/// A model from what a person names: catalog name, config.json (file or folder), or a .toml file.
/// `notes` receives which keys were used and which were ignored.
training::Model load_model(Catalog const& catalog, std::string const& what, std::vector<std::string>* notes);

/// A cluster from a catalog name (a node, or an accelerator for the node usual around it) or a .toml file;
/// docs/guide/cluster-file.md describes the file.
Cluster load_cluster(Catalog const& catalog, std::string const& what);

/// Machines as people name them with their number.
struct Machines {
    Cluster cluster;
    std::optional<int> nodes, workers; ///< their number, where the text states it
    std::string reading;               ///< of a text that names a number; empty for a plain name
};
/// "dgx-h100", "4xdgx-h100" (nodes), "8xH100", "H100:8", "H100x8" (accelerators), "4x2xH100" (nodes of two). Fewer accelerators than the
/// usual node holds are a part of it; of cards without links of their own they are a workstation.
/// Errors: those of `load_cluster`.
Machines load_machines(Catalog const& catalog, std::string const& what);
/// Accelerators of the largest node of the system that a text names: a node of the catalog ("dgx-h100") or its accelerator
/// ("NVIDIA H100 80GB HBM3"); 0 for another text. Where `cluster` names machines, it is theirs for every text.
std::function<int(std::string_view)> node_sizes(Catalog const& catalog, std::string const& cluster = {});
/// Whether a text is such a name of the catalog.
bool names_machines(Catalog const& catalog, std::string const& what);
/// A node of which `used` accelerators take part: the rest is idle, and each has its share of NICs as before. Errors:
/// InputError{usage} at `where` for more than the node holds.
void use_part_of_node(Cluster& cluster, int used, std::string_view where);

/// NICs of a node as a text was understood.
struct JoinedNetwork {
    std::string nics;       ///< "4 NICs of 100 Gbit/s a node", with the rules by which an ambiguous text was read
    bool ambiguous = false; ///< a rule decided more than the count of the catalog's NICs
};
/// Gives a cluster's nodes the network that people write, "4x 100Gb RoCE" (docs/guide/network-text.md lists the spellings).
/// Errors: InputError{usage} at `where` for text that is not understood, or states no rate.
JoinedNetwork join_by_network(Catalog const& catalog, std::string_view text, std::string_view where, Cluster& cluster);

/// A cluster from the text of a cluster file; names in it are looked up in the catalog.
Cluster read_cluster(Catalog const& catalog, std::string_view toml, std::string_view where);

/// Readers of one record's text; `where` names it in errors. They accept only known keys.
Accelerator read_accelerator(std::string_view toml, std::string_view where);
training::Model read_model(std::string_view toml, std::string_view where);
training::Optimizer read_optimizer(std::string_view toml, std::string_view where);
training::Framework read_framework(std::string_view toml, std::string_view where);
/// Reads a calibration; constants that a partial one leaves out are taken from `below`.
training::CalibrationSet read_calibration(std::string_view toml, std::string_view where,
                                          training::CalibrationSet const& below = {});
std::vector<training::MeasuredEntry> read_measured_entries(std::string_view toml, std::string_view where);
std::string written_measured_entry(training::MeasuredEntry const& entry);

std::string write_calibration(training::CalibrationSet const& set, std::vector<std::string> const& header);
std::string write_partial_calibration(training::PartialCalibration const& set, std::vector<std::string> const& header);
/// A partial calibration of measured links alone.
std::string write_measured_network(network::MeasuredNetwork const& network, std::string_view name,
                                   std::vector<std::string> const& header);

/// Every table and every row of it is required.
network::NcclTuning read_nccl_tuning(std::string_view toml, std::string_view where);

/// The constants fitted without each source: [without.SOURCE] KEY = value.
training::Folds read_folds(std::string_view toml, std::string_view where);
std::string write_folds(training::Folds const& folds, std::vector<std::string> const& header);

/// The spread of measured memory about the predicted one: state_share, frameworks, [seen] and [unseen].
serving::ServingCalibration read_serving_calibration(std::string_view toml, std::string_view where);
std::string write_serving_calibration(serving::ServingCalibration const& set, std::vector<std::string> const& header);
training::MemorySpread read_memory_spread(std::string_view toml, std::string_view where);
std::string write_memory_spread(training::MemorySpread const& spread, std::vector<std::string> const& header);

} // namespace headroom::io
