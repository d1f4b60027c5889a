#include "records/record.hpp"
#include "records/toml_text.hpp"

#include "headroom/io/catalog.hpp"

#include <fmt/format.h>

namespace headroom::io {

Folds read_folds(std::string_view toml, std::string_view where) {
    constexpr Range any{-1e30, 1e30};
    Record record{toml, where};
    Section root = record.root();
    root.skip({"name", "date", "notes"});
    Folds folds;
    Section without = root.section("without");
    for (auto const& source : without.keys()) {
        Section values = without.section(source);
        Calibration calibration;
        for (auto const& info : constants()) { values.read(info.key, calibration[info.id], any, Presence::required); }
        folds.without.emplace(source, calibration);
    }
    Section paces = root.section("pace_without");
    for (auto const& source : paces.keys()) {
        Section values = paces.section(source);
        auto& pace = folds.pace[source];
        for (auto const& framework : values.keys()) {
            values.read(framework, pace[framework].factor, {1e-3, 1e3}, Presence::required);
        }
    }
    record.refuse_the_rest();
    return folds;
}

std::string write_folds(Folds const& folds, std::vector<std::string> const& header) {
    std::string text;
    for (auto const& line : header) { text += toml_comment(line); }
    text += "name = \"folds\"\n";
    for (auto const& [source, values] : folds.without) {
        text += fmt::format("\n[without.{}]\n", toml_string(source));
        for (auto const& info : constants()) {
            text += fmt::format("{} = {}\n", info.key, toml_number(values[info.id]));
        }
    }
    for (auto const& [source, paces] : folds.pace) {
        if (paces.empty()) { continue; }
        text += fmt::format("\n[pace_without.{}]\n", toml_string(source));
        for (auto const& [framework, pace] : paces) {
            text += fmt::format("{} = {}\n", toml_string(framework), toml_number(pace.factor));
        }
    }
    return text;
}

} // namespace headroom::io
