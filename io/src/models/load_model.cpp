#include "records/record.hpp"

#include "headroom/io/catalog.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

namespace headroom::io {

using namespace headroom::training;

namespace {

namespace fs = std::filesystem;

constexpr char const* config_name = "config.json";

bool is_folder(fs::path const& path) {
    std::error_code error;
    return fs::is_directory(path, error);
}

std::string listed(std::vector<std::string> const& names) { return fmt::format("{}", fmt::join(names, ", ")); }

ModelFile from_config(fs::path const& path, std::string name) {
    ModelFile file{.path = path.string(), .text = read_file(path), .config = {}};
    file.config = read_model_config(file.text, file.path);
    if (!name.empty()) { file.config.model.name = std::move(name); }
    for (auto const& issue : file.config.issues) {
        file.config.model.guesses.push_back({issue.column, "not read", issue.kind, false});
    }
    return file;
}

ModelFile from_record(std::string const& path) {
    ModelFile file{.path = path, .text = read_file(path, record_limit), .config = {}};
    file.config.model = read_model(file.text, path);
    file.config.read_as = "model record";
    return file;
}

void add_notes(ModelFile const& file, std::vector<std::string>& notes) {
    auto const& config = file.config;
    if (config.used.empty()) { return; } // a record
    notes.push_back(fmt::format("{}: used {}", file.path, listed(config.used)));
    if (!config.ignored.empty()) { notes.push_back(fmt::format("{}: ignored {}", file.path, listed(config.ignored))); }
    for (auto const& filled : config.filled) { notes.push_back(fmt::format("{}: {}", file.path, filled)); }
    for (auto const& issue : config.issues) {
        notes.push_back(fmt::format("{}: {}: {}", file.path, issue.column, issue.kind));
    }
}

/// A config.json is called like its folder, any other file by its own name.
std::string name_of_file(fs::path const& path) {
    std::error_code error;
    if (path.filename() != config_name) { return path.stem().string(); }
    fs::path const whole = fs::absolute(path, error).lexically_normal();
    return error ? std::string{} : whole.parent_path().filename().string();
}

/// Where the hub's tools keep what they download.
fs::path hub_cache() {
    auto const variable = [](char const* name) {
        char const* value = std::getenv(name);
        return fs::path{value == nullptr ? "" : value};
    };
    if (auto cache = variable("HF_HUB_CACHE"); !cache.empty()) { return cache; }
    if (auto const home = variable("HF_HOME"); !home.empty()) { return home / "hub"; }
    if (auto const home = variable("HOME"); !home.empty()) { return home / ".cache" / "huggingface" / "hub"; }
    return {};
}

/// Whether a text is "organisation/model" in the hub's alphabet; so no part of it can leave the cache.
bool is_hub_id(std::string_view text) {
    auto const slash = text.find('/');
    auto const fits = [](std::string_view part) {
        return !part.empty() && part.front() != '.' && part.find("..") == std::string_view::npos &&
               std::ranges::all_of(part, [](char c) {
                   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '_' || c == '.';
               });
    };
    return slash != std::string_view::npos && fits(text.substr(0, slash)) && fits(text.substr(slash + 1));
}

/// The config.json of a model in the local cache: of the main revision, else of the last by name. Empty when absent.
fs::path cached_config(std::string_view id) {
    fs::path const cache = hub_cache();
    if (cache.empty() || !is_hub_id(id)) { return {}; }
    auto const slash = id.find('/');
    fs::path const folder = cache / fmt::format("models--{}--{}", id.substr(0, slash), id.substr(slash + 1));
    if (fs::path const main = folder / "refs" / "main"; is_there(main)) {
        std::string revision = read_file(main, 256);
        revision.erase(std::ranges::find_if_not(revision, [](unsigned char c) { return std::isalnum(c) != 0; }),
                       revision.end());
        fs::path config = folder / "snapshots" / revision / config_name;
        if (!revision.empty() && is_there(config)) { return config; }
    }
    fs::path newest;
    std::error_code error;
    for (fs::directory_iterator entry{folder / "snapshots", error}, end; !error && entry != end;
         entry.increment(error)) {
        fs::path const config = entry->path() / config_name;
        if (is_there(config) && config > newest) { newest = config; }
    }
    return newest;
}

[[noreturn]] void unknown_model(Catalog const& catalog, std::string const& what) {
    std::string hint = catalog.suggestion(RecordKind::model, what);
    if (hint.empty()) { hint = "`headroom catalog list` shows the models; a config.json describes another"; }
    refuse("model", fmt::format("unknown model {}", headroom::quoted(what)),
           "neither in the catalog, nor a file, nor in the local hub cache", hint);
}

} // namespace

bool names_model_file(std::string const& what) {
    return what.ends_with(".toml") || what.ends_with(".json") || is_there(what) || is_folder(what) ||
           !cached_config(what).empty();
}

ModelNameReading model_meant_by(Catalog const& catalog, std::string const& what) {
    if (catalog.has_model(what)) { return {catalog.text(RecordKind::model, what).name, {}}; }
    return names_model_file(what) ? ModelNameReading{} : catalog.model_named_like(what);
}

ModelFile read_model_file(Catalog const& catalog, std::string const& what) {
    fs::path const path{what};
    if (is_folder(path)) {
        fs::path const config = path / config_name;
        if (!is_there(config)) { unreadable_error(what, "no config.json in this folder", "a model folder holds one"); }
        return from_config(config, name_of_file(config));
    }
    if (what.ends_with(".toml")) { return from_record(what); }
    if (what.ends_with(".json") || is_there(path)) { return from_config(path, name_of_file(path)); }
    if (auto const config = cached_config(what); !config.empty()) { return from_config(config, what); }
    unknown_model(catalog, what);
}

Model load_model(Catalog const& catalog, std::string const& what, std::vector<std::string>* notes) {
    if (catalog.has_model(what)) { return catalog.model(what); }
    if (auto const [record, reason] = model_meant_by(catalog, what); !record.empty()) {
        if (notes != nullptr) {
            notes->push_back(fmt::format("{} is read as {}{}{}", what, record, reason.empty() ? "" : ": ", reason));
        }
        return catalog.model(record);
    }
    ModelFile file = read_model_file(catalog, what);
    if (notes != nullptr) { add_notes(file, *notes); }
    return std::move(file.config.model);
}

} // namespace headroom::io
