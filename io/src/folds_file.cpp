#include "record.hpp"

#include "headroom/io/catalog.hpp"

#include <fmt/format.h>

#include <cmath>

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
    record.refuse_the_rest();
    return folds;
}

std::string write_folds(Folds const& folds, std::vector<std::string> const& header) {
    std::string text;
    for (auto const& line : header) { text += fmt::format("# {}\n", line); }
    text += "name = \"folds\"\n";
    for (auto const& [source, values] : folds.without) {
        text += fmt::format("\n[without.\"{}\"]\n", source);
        for (auto const& info : constants()) {
            double const value = values[info.id];
            if (!std::isfinite(value)) { throw ContractError{"a fold holds a number that is not finite"}; }
            std::string number = fmt::format("{}", value);
            if (number.find_first_of(".e") == std::string::npos) { number += ".0"; }
            text += fmt::format("{} = {}\n", info.key, number);
        }
    }
    return text;
}

} // namespace headroom::io
