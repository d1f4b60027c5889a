#include "records/record.hpp"
#include "records/toml_text.hpp"

#include "headroom/io/catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace headroom::io {

using namespace headroom::training;

namespace {

MemoryScale read_scale(Section section) {
    constexpr Range scales{0, 1e3};
    MemoryScale scale;
    section.read("below", scale.below, scales, Presence::required);
    section.read("above", scale.above, scales, Presence::required);
    section.read("rows", scale.rows, {0, 1e9});
    section.read("families", scale.families, {0, 1e9});
    return scale;
}

std::string written(std::string_view name, MemoryScale const& scale) {
    return fmt::format("\n[{}]\nbelow = {}\nabove = {}\nrows = {}\nfamilies = {}\n", name, toml_number(scale.below),
                       toml_number(scale.above), scale.rows, scale.families);
}

} // namespace

MemorySpread read_memory_spread(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    Section root = record.root();
    root.skip({"name", "date", "notes"});
    MemorySpread spread;
    root.read("state_share", spread.state_share, {0, 1}, Presence::required);
    std::vector<std::string> frameworks;
    root.read("frameworks", frameworks);
    spread.frameworks.insert(frameworks.begin(), frameworks.end());
    spread.seen = read_scale(root.section("seen"));
    spread.unseen = read_scale(root.section("unseen"));
    record.refuse_the_rest();
    return spread;
}

std::string write_memory_spread(MemorySpread const& spread, std::vector<std::string> const& header) {
    std::string text;
    for (auto const& line : header) { text += toml_comment(line); }
    std::vector<std::string> frameworks;
    for (auto const& name : spread.frameworks) { frameworks.push_back(toml_string(name)); }
    return text +
           fmt::format("{}name = \"memory\"\nstate_share = {}\nframeworks = [{}]\n", header.empty() ? "" : "\n",
                       toml_number(spread.state_share), fmt::join(frameworks, ", ")) +
           written("seen", spread.seen) + written("unseen", spread.unseen);
}

} // namespace headroom::io
