#include "history/history.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {
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

namespace {

constexpr char const* begin_with = "headroom measure roofline, headroom measure comm and headroom measure scaling "
                                   "keep what they measure there.";

Paragraph nothing_yet(std::string const& store, std::string const& kind, bool store_is_there) {
    if (!store_is_there) { return {"Nothing was measured yet: there is no " + printable(store) + ". " + begin_with}; }
    std::string const what = kind.empty() ? "No measurements are" : "No measurements of " + kind + " are";
    return {what + " in " + printable(store) + ". " + begin_with};
}

} // namespace

Document list_document(io::HistoryAnswer const& answer, std::string const& kind, bool store_is_there) {
    auto const& rows = *answer.list;
    Document document{"Measurements", {}, ""};
    if (rows.empty()) {
        document.blocks.emplace_back(nothing_yet(answer.store, kind, store_is_there));
        return document;
    }
    document.blocks.emplace_back(Paragraph{counted(rows.size(), "set") + " of measurements in " +
                                           printable(answer.store) + ", the latest last."});
    Table table{
        "", {"id", left("kind"), wrapped("name"), left("began (UTC)"), left("state"), "samples", wrapped("host")}, {}};
    bool unfinished = false;
    for (auto const& [head, settings, host] : rows) {
        unfinished =
            unfinished || head.state == io::StoredState::broken_off || head.state == io::StoredState::interrupted;
        table.rows.push_back({std::to_string(head.id), printable(head.kind), printable(head.name),
                              time_in_words(head.began_ns), std::string{name_of(head.state)},
                              std::to_string(head.samples), printable(host)});
    }
    document.blocks.emplace_back(std::move(table));
    if (unfinished) {
        document.blocks.emplace_back(Paragraph{"What was interrupted or broken off goes on when the same is measured "
                                               "again on the same machine; --fresh begins anew."});
    }
    return document;
}

Document export_document(io::StoredCampaign const& exported) {
    Campaign const& campaign = exported.campaign;
    Table table{"", {wrapped("point"), "repetition", left("outcome"), "value", "load", wrapped("message")}, {}};
    for (Sample const& sample : campaign.samples) {
        MeasuredPoint const& point = campaign.points[sample.point];
        table.rows.push_back({printable(point.label), std::to_string(sample.repetition),
                              std::string{name_of(sample.outcome)},
                              sample.has_value() ? in_words(sample.value, point.unit) : "-",
                              sample.load ? significant(*sample.load) : "-", printable(sample.message)});
    }
    Document document{title_of(exported.head), {}, ""};
    if (table.rows.empty()) {
        document.blocks.emplace_back(Paragraph{"No samples were taken."});
    } else {
        document.blocks.emplace_back(std::move(table));
    }
    return document;
}

Document remove_document(io::CampaignHead const& removed) {
    return {title_of(removed),
            {Paragraph{fmt::format("{}: removed, with {}.", title_of(removed), counted(removed.samples, "sample"))}},
            ""};
}

} // namespace headroom::cli
