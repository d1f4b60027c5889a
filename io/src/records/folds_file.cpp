#include "records/band_section.hpp"
#include "records/record.hpp"
#include "records/toml_text.hpp"

#include "headroom/io/catalog.hpp"

#include <fmt/format.h>

namespace headroom::io {

using namespace headroom::training;

namespace {

using Values = std::map<std::string, Calibration>; ///< by what was left out

Values read_each(Section without) {
    constexpr Range any{-1e30, 1e30};
    Values found;
    for (auto const& left_out : without.keys()) {
        Section values = without.section(left_out);
        Calibration calibration;
        for (auto const& info : constants()) { values.read(info.key, calibration[info.id], any, Presence::required); }
        found.emplace(left_out, calibration);
    }
    return found;
}

std::string written(std::string_view section, Values const& each) {
    std::string text;
    for (auto const& [left_out, values] : each) {
        text += fmt::format("\n[{}.{}]\n", section, toml_string(left_out));
        for (auto const& info : constants()) {
            text += fmt::format("{} = {}\n", info.key, toml_number(values[info.id]));
        }
    }
    return text;
}

std::map<std::string, Bands> read_bands_of_each(Section without) {
    std::map<std::string, Bands> found;
    for (auto const& left_out : without.keys()) { found.emplace(left_out, read_bands(without.section(left_out))); }
    return found;
}

std::string written(std::string_view section, std::map<std::string, Bands> const& each) {
    std::string text;
    for (auto const& [left_out, bands] : each) {
        text += '\n' + written_bands(fmt::format("{}.{}", section, toml_string(left_out)), bands);
    }
    return text;
}

} // namespace

Folds read_folds(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    Section root = record.root();
    root.skip({"name", "date", "notes"});
    Folds folds;
    folds.without = read_each(root.section("without"));
    folds.without_model = read_each(root.section("without_model"));
    Section paces = root.section("pace_without");
    for (auto const& source : paces.keys()) {
        Section values = paces.section(source);
        auto& pace = folds.pace[source];
        for (auto const& framework : values.keys()) {
            values.read(framework, pace[framework].factor, {1e-3, 1e3}, Presence::required);
        }
    }
    folds.bands = read_bands_of_each(root.section("bands_without"));
    folds.bands_model = read_bands_of_each(root.section("bands_without_model"));
    Section seen = root.section("seen_without");
    for (auto const& source : seen.keys()) { folds.seen.emplace(source, read_seen(seen.section(source))); }
    record.refuse_the_rest();
    return folds;
}

std::string write_folds(Folds const& folds, std::vector<std::string> const& header) {
    std::string text;
    for (auto const& line : header) { text += toml_comment(line); }
    text += "name = \"folds\"\n";
    text += written("without", folds.without) + written("without_model", folds.without_model);
    for (auto const& [source, paces] : folds.pace) {
        if (paces.empty()) { continue; }
        text += fmt::format("\n[pace_without.{}]\n", toml_string(source));
        for (auto const& [framework, pace] : paces) {
            text += fmt::format("{} = {}\n", toml_string(framework), toml_number(pace.factor));
        }
    }
    text += written("bands_without", folds.bands) + written("bands_without_model", folds.bands_model);
    for (auto const& [source, seen] : folds.seen) {
        text += '\n' + written_seen(fmt::format("seen_without.{}", toml_string(source)), seen);
    }
    return text;
}

} // namespace headroom::io
