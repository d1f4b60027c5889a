#include "history/history.hpp"

#include "headroom/document/text.hpp"

#include <fmt/format.h>

namespace headroom::cli {

using namespace headroom::measure;

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
