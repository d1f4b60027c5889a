#include "headroom/io/catalog.hpp"

#include "records/catalog_layer.hpp"
#include "records/cluster.hpp"
#include "records/model_names.hpp"
#include "records/records.hpp"

#include "headroom/io/embedded.hpp"
#include "headroom/io/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace headroom::io {

using namespace headroom::network;
using namespace headroom::training;

namespace {

/// The text after `key =` at the start of a line before the first table; empty when there is none.
/// A scan and not a parse: looking a name up touches every record of a kind.
std::string_view value_text(std::string_view toml, std::string_view key) {
    for (std::size_t at = 0; at < toml.size();) {
        auto const end = std::min(toml.find('\n', at), toml.size());
        std::string_view line = toml.substr(at, end - at);
        if (line.starts_with('[')) { return {}; }
        if (line.starts_with(key)) {
            auto const equals = line.find_first_not_of(" \t", key.size());
            if (equals != std::string_view::npos && line[equals] == '=') { return toml.substr(at + equals + 1); }
        }
        at = end + 1;
    }
    return {};
}

/// Calls `visit` with each quoted text of a list, or with the one text when there is no list.
template <class Visit> void each_text(std::string_view value, Visit visit) {
    auto const first = value.find_first_not_of(" \t");
    bool const is_list = first != std::string_view::npos && value[first] == '[';
    for (std::size_t at = 0; at < value.size(); ++at) {
        char const c = value[at];
        if (c == ']' || (c == '\n' && !is_list)) { return; }
        if (c == '#') {
            at = std::min(value.find('\n', at), value.size());
            continue;
        }
        if (c != '"' && c != '\'') { continue; }
        auto const end = value.find(c, at + 1);
        if (end == std::string_view::npos) { return; }
        visit(value.substr(at + 1, end - at - 1));
        if (!is_list) { return; }
        at = end;
    }
}

bool mentions(std::string_view toml, std::string_view key, std::string_view wanted) {
    bool found = false;
    each_text(value_text(toml, key), [&](std::string_view text) { found = found || text == wanted; });
    return found;
}

std::string folder_hint(std::string_view folder) {
    std::vector<std::string> folders;
    for (auto const& info : record_kinds) { folders.emplace_back(info.folder); }
    return did_you_mean(folder, folders);
}

bool is_iso_date(std::string_view text) {
    constexpr std::string_view shape = "dddd-dd-dd";
    if (text.size() != shape.size()) { return false; }
    return std::ranges::equal(text, shape, [](char c, char s) { return s == 'd' ? c >= '0' && c <= '9' : c == s; });
}

} // namespace

std::string_view name_of(RecordKind kind) { return record_kinds[index_of(kind)].name; }

struct Catalog::Index {
    CatalogLayer overlay;                               ///< its records hide embedded ones
    std::vector<std::unique_ptr<std::string>> contents; ///< of overlays

    void add_overlay(std::filesystem::path const& folder) {
        namespace fs = std::filesystem;
        std::error_code error;
        std::vector<fs::path> files;
        for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error)) {
            std::string const name = entry->path().filename().string();
            if (!entry->is_directory() || name.starts_with('.')) { continue; }
            if (kind_of_folder(name) == nullptr) {
                refuse(folder.string(), fmt::format("unknown folder {}", headroom::quoted(name)),
                       "records lie in one folder for each kind", folder_hint(name));
            }
            for (fs::directory_iterator file{entry->path(), error}, last; !error && file != last;
                 file.increment(error)) {
                if (file->path().extension() == ".toml") { files.push_back(file->path()); }
            }
        }
        if (error) { unreadable_error(folder.string(), "cannot be read as a catalog", error.message()); }
        std::ranges::sort(files);
        for (auto const& path : files) {
            contents.push_back(std::make_unique<std::string>(read_file(path, record_limit)));
            overlay.add({kind_of_folder(path.parent_path().filename().string())->kind, path.stem().string(),
                         path.string(), *contents.back()},
                        fnv1a(*contents.back()));
        }
    }

    /// By file stem; else by stem or alias, compared as people write them.
    [[nodiscard]] RecordText const* find(RecordKind kind, std::string_view name) const {
        for (CatalogLayer const* layer : {&overlay, &embedded_layer()}) {
            if (auto const* exact = layer->find(kind, name)) { return &exact->text; }
        }
        std::string const wanted = normalised(name);
        if (wanted.empty()) { return nullptr; }
        auto const ordered = overlays_first(kind);
        for (auto const* record : ordered) {
            if (normalised(record->name) == wanted) { return record; }
        }
        for (auto const* record : ordered) {
            bool found = false;
            each_text(value_text(record->content, "aliases"),
                      [&](std::string_view alias) { found = found || normalised(alias) == wanted; });
            if (found) { return record; }
        }
        return nullptr;
    }

    /// Every record of a kind: those of overlays by name, then the embedded ones by name.
    [[nodiscard]] std::vector<RecordText const*> overlays_first(RecordKind kind) const {
        std::vector<RecordText const*> ordered;
        for (auto const& [stem, record] : overlay.records[index_of(kind)]) { ordered.push_back(&record.text); }
        for (auto const& [stem, record] : embedded_layer().records[index_of(kind)]) {
            if (overlay.find(kind, stem) == nullptr) { ordered.push_back(&record.text); }
        }
        return ordered;
    }

    /// Every name and alias of a model, in the texts of the records.
    [[nodiscard]] std::vector<ModelSpelling> model_spellings() const {
        std::vector<ModelSpelling> spellings;
        for (auto const* record : overlays_first(RecordKind::model)) {
            spellings.push_back({record->name, record->name});
            each_text(value_text(record->content, "aliases"), [&](std::string_view alias) {
                spellings.push_back({record->name, alias});
            });
        }
        return spellings;
    }

    /// Records of a kind by name, whatever their origin.
    [[nodiscard]] std::vector<RecordText const*> by_name(RecordKind kind) const {
        auto records = overlays_first(kind);
        std::ranges::sort(records, {}, &RecordText::name);
        return records;
    }
};

Catalog::Catalog(std::vector<std::filesystem::path> const& overlay) : index_{std::make_unique<Index>()} {
    for (auto const& folder : overlay) { index_->add_overlay(folder); }
}

Catalog::~Catalog() = default;
Catalog::Catalog(Catalog&&) noexcept = default;
Catalog& Catalog::operator=(Catalog&&) noexcept = default;

std::vector<std::string> Catalog::names(RecordKind kind) const {
    std::vector<std::string> names;
    for (auto const* record : index_->by_name(kind)) { names.push_back(record->name); }
    return names;
}

std::vector<std::string> Catalog::names_and_aliases(RecordKind kind) const {
    std::vector<std::string> names;
    for (auto const* record : index_->by_name(kind)) {
        names.push_back(record->name);
        each_text(value_text(record->content, "aliases"), [&](std::string_view alias) { names.emplace_back(alias); });
    }
    return names;
}

RecordText const& Catalog::text(RecordKind kind, std::string_view name_or_alias) const {
    if (auto const* record = index_->find(kind, name_or_alias)) { return *record; }
    if (kind == RecordKind::model) {
        if (auto const* record = index_->find(kind, model_named_like(name_or_alias).record)) { return *record; }
    }
    std::string hint = suggestion(kind, name_or_alias);
    if (hint.empty()) { hint = fmt::format("`headroom catalog list` shows the {} records", name_of(kind)); }
    refuse("catalog", fmt::format("unknown {} {}", name_of(kind), headroom::quoted(name_or_alias)),
           "no record has this name or alias", hint);
}

bool Catalog::has_model(std::string_view name) const { return index_->find(RecordKind::model, name) != nullptr; }

ModelNameReading Catalog::model_named_like(std::string_view name) const {
    return has_model(name) ? ModelNameReading{} : read_model_name(name, index_->model_spellings());
}

std::string Catalog::suggestion(RecordKind kind, std::string_view name) const {
    constexpr std::size_t most = 6;
    if (kind == RecordKind::model) {
        auto models = models_that_begin_with(name, index_->model_spellings());
        std::size_t const more = models.size() > most ? models.size() - most : 0;
        models.resize(models.size() - more);
        if (models.size() == 1) { return fmt::format("did you mean '{}'?", models.front()); }
        if (!models.empty()) {
            return fmt::format("choose from {}{}", fmt::join(models, ", "),
                               more > 0 ? fmt::format(" and {} more", more) : "");
        }
    }
    return did_you_mean(name, names_and_aliases(kind));
}

bool Catalog::has_accelerator(std::string_view name) const {
    return index_->find(RecordKind::accelerator, name) != nullptr;
}

bool Catalog::has_link(std::string_view name) const { return index_->find(RecordKind::link, name) != nullptr; }
bool Catalog::has_node(std::string_view name) const { return index_->find(RecordKind::node, name) != nullptr; }

Accelerator Catalog::accelerator(std::string_view name) const {
    return read_once(text(RecordKind::accelerator, name), read_accelerator_record).accelerator;
}

Model Catalog::model(std::string_view name) const {
    return read_once(text(RecordKind::model, name), read_model_record).model;
}

std::string Catalog::model_kind(std::string_view name) const {
    return read_once(text(RecordKind::model, name), read_model_record).kind;
}

PublishedCount Catalog::published_count(std::string_view name) const {
    return read_once(text(RecordKind::model, name), read_model_record).published;
}

NcclTuning Catalog::nccl_tuning() const { return read_once(text(RecordKind::library, "nccl"), read_nccl_tuning); }

Framework Catalog::framework(std::string_view name) const {
    return read_once(text(RecordKind::framework, name), read_framework);
}

Optimizer Catalog::optimizer(std::string_view name) const {
    return read_once(text(RecordKind::optimizer, name), read_optimizer);
}

serving::Engine Catalog::engine(std::string_view name) const {
    return read_once(text(RecordKind::engine, name), read_engine);
}

serving::ServingCalibration Catalog::serving_calibration() const {
    return read_once(text(RecordKind::calibration, "serving"), read_serving_calibration);
}

StrategyRecord Catalog::strategy(std::string_view name) const {
    return read_once(text(RecordKind::strategy, name), read_strategy);
}

CalibrationSet Catalog::calibration(std::string_view name) const {
    constexpr std::string_view memory_record = "memory";
    auto const& record = text(RecordKind::calibration, name);
    auto set =
        read_once(record, [](std::string_view toml, std::string_view where) { return read_calibration(toml, where); });
    auto const known = names(RecordKind::calibration);
    if (std::ranges::find(known, memory_record) != known.end()) {
        auto const& memory = text(RecordKind::calibration, memory_record);
        set.memory = read_once(memory, read_memory_spread);
    }
    return set;
}

Cluster Catalog::cluster(std::string_view node_name) const {
    auto const& record = text(RecordKind::node, node_name);
    NodeRecord node = read_once(record, read_node);
    node.name = record.name;
    return build_cluster(*this, look_up(*this, node));
}

std::string Catalog::default_node(std::string_view accelerator_name) const {
    std::string const& wanted = text(RecordKind::accelerator, accelerator_name).name;
    using Rank = std::tuple<bool, bool, bool, std::string>; // smallest is best
    std::vector<Rank> candidates;
    for (auto const* record : index_->overlays_first(RecordKind::node)) {
        if (!mentions(record->content, "accelerator", wanted)) { continue; }
        NodeRecord const node = read_once(*record, read_node);
        candidates.emplace_back(!node.preferred, !record->name.starts_with("dgx-"), node.accelerators != 8,
                                record->name);
    }
    if (candidates.empty()) {
        refuse("catalog", fmt::format("no node with accelerator '{}'", wanted), "a cluster is made of nodes",
               "describe it in a cluster file");
    }
    return std::get<std::string>(*std::ranges::min_element(candidates));
}

std::optional<PriceRange> Catalog::price(std::string_view accelerator_name) const {
    std::string const& wanted = text(RecordKind::accelerator, accelerator_name).name;
    std::vector<double> prices;
    std::vector<std::string> dates;
    for (auto const* record : index_->overlays_first(RecordKind::price)) {
        if (!mentions(record->content, "accelerator", wanted)) { continue; }
        for (auto const& offer : read_once(*record, read_prices).offers) {
            if (offer.kind != "on-demand") { continue; }
            prices.push_back(offer.price.base());
            if (is_iso_date(offer.date)) { dates.push_back(offer.date); }
        }
        break; // one record an accelerator
    }
    if (prices.empty()) { return std::nullopt; }
    std::ranges::sort(prices);
    auto const middle = prices.size() / 2;
    PriceRange range{
        .median = DollarsPerSecond{prices.size() % 2 == 1 ? prices[middle] : (prices[middle - 1] + prices[middle]) / 2},
        .low = DollarsPerSecond{prices.front()},
        .high = DollarsPerSecond{prices.back()},
        .offers = static_cast<int>(prices.size()),
        .oldest = {},
        .newest = {}};
    if (!dates.empty()) {
        range.oldest = *std::ranges::min_element(dates);
        range.newest = *std::ranges::max_element(dates);
    }
    return range;
}

std::string Catalog::hash() const {
    // a program without overlays states the hash of what it holds
    std::uint64_t const mine = index_->contents.empty() ? 0 : index_->overlay.hash;
    return fmt::format("{:016x}", embedded_layer().hash ^ mine);
}

} // namespace headroom::io
