#include "document/text.hpp"
#include "history/history.hpp"

namespace headroom::cli {
namespace {

constexpr char const* begin_with = "headroom measure roofline, headroom measure comm and headroom measure scaling "
                                   "keep what they measure there.";

Paragraph nothing_yet(HistoryList const& list) {
    if (!list.store_is_there) {
        return {"Nothing was measured yet: there is no " + printable(list.store) + ". " + begin_with};
    }
    std::string const what = list.kind.empty() ? "No measurements are" : "No measurements of " + list.kind + " are";
    return {what + " in " + printable(list.store) + ". " + begin_with};
}

std::string host_of(Campaign const& campaign) { return std::string{fact(campaign.machine, "host").value_or("")}; }

} // namespace

Document document_of(HistoryList const& list) {
    Document document{"Measurements", {}, ""};
    if (list.rows.empty()) {
        document.blocks.emplace_back(nothing_yet(list));
        return document;
    }
    document.blocks.emplace_back(Paragraph{counted(list.rows.size(), "set") + " of measurements in " +
                                           printable(list.store) + ", the latest last."});
    Table table{"",
                {{"id"},
                 {"kind", Align::left},
                 {"name", Align::left, true},
                 {"began (UTC)", Align::left},
                 {"state", Align::left},
                 {"samples"},
                 {"host", Align::left, true}},
                {}};
    bool broken_off = false;
    for (auto const& [head, samples, in_hands] : list.rows) {
        std::string const state{state_word(head, in_hands)};
        broken_off = broken_off || state == "broken-off" || state == "interrupted";
        table.rows.push_back({std::to_string(head.id), printable(head.kind), printable(head.name),
                              time_in_words(head.began_ns), state, std::to_string(samples), printable(host_of(head))});
    }
    document.blocks.emplace_back(std::move(table));
    if (broken_off) {
        document.blocks.emplace_back(Paragraph{"What was interrupted or broken off goes on when the same is measured "
                                               "again on the same machine; --fresh begins anew."});
    }
    return document;
}

Json json_of(HistoryList const& list) {
    Json rows = Json::array();
    for (auto const& [head, samples, in_hands] : list.rows) {
        Json row = head_json(head, in_hands, samples);
        std::string const host = host_of(head);
        row.set("host", host.empty() ? Json{} : Json{host}).set("settings", json_of(head.settings));
        rows.push(std::move(row));
    }
    return rows;
}

Sheet sheet_of(HistoryList const& list) {
    Sheet sheet{{"id", "kind", "name", "state", "began", "ended", "samples", "host"}, {}};
    for (auto const& [head, samples, in_hands] : list.rows) {
        sheet.rows.push_back({std::to_string(head.id), head.kind, head.name, std::string{state_word(head, in_hands)},
                              time_text(head.began_ns).value_or(""), time_text(head.ended_ns).value_or(""),
                              std::to_string(samples), host_of(head)});
    }
    return sheet;
}

} // namespace headroom::cli
