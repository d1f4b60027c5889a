#include "history/history.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {

using namespace headroom::measure;

namespace {

struct KnownUnit {
    std::string_view name;
    Dimension dimension;
};

constexpr std::array known_units{
    KnownUnit{"seconds", {.seconds = 1}},
    KnownUnit{"bytes", {.bytes = 1}},
    KnownUnit{"flops", {.flops = 1}},
    KnownUnit{"bytes/second", {.bytes = 1, .seconds = -1}},
    KnownUnit{"flops/second", {.flops = 1, .seconds = -1}},
};

} // namespace

std::string in_words(double value, std::string_view unit) {
    auto const known = std::ranges::find(known_units, unit, &KnownUnit::name);
    if (known != known_units.end() && std::isfinite(value)) { return format_base(value, known->dimension, 4); }
    return significant(value, 4) + " " + printable(unit);
}

std::string time_in_words(std::int64_t ns) {
    std::string text = io::utc_text(ns).value_or("-");
    if (text.size() > 1) {
        text[text.find('T')] = ' ';
        text.pop_back(); // the zone
    }
    return text;
}

std::string probability_in_words(double probability) {
    return probability < 0.001 ? "< 0.001" : significant(probability, 2);
}

std::string change_in_words(double change) {
    if (!std::isfinite(change)) { return "-"; }
    return (change < 0.0 ? "-" : "+") + percent(std::abs(change), 2) + " %";
}

Table facts_table(std::string title, Facts const& facts) {
    Table table{std::move(title), {wrapped("fact"), wrapped("value")}, {}};
    for (auto const& [name, value] : facts) { table.rows.push_back({printable(name), printable(value)}); }
    return table;
}

std::string title_of(io::CampaignHead const& head) {
    std::string title = fmt::format("Measurements {}: {}", head.id, printable(head.kind));
    if (!head.name.empty()) { title += " '" + printable(head.name) + "'"; }
    return title;
}

} // namespace headroom::cli
