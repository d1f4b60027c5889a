#include "document/text.hpp"
#include "history/history.hpp"

namespace headroom::cli {
namespace {

bool has_value(Sample const& sample) {
    return sample.outcome == SampleOutcome::measured || sample.outcome == SampleOutcome::warm_up;
}

Json json_of(Sample const& sample) {
    return Json::object()
        .set("point", sample.point)
        .set("repetition", sample.repetition)
        .set("outcome", name_of(sample.outcome))
        .set("value", has_value(sample) ? Json{sample.value} : Json{})
        .set("began_unix_ns", sample.began_ns)
        .set("load", sample.load)
        .set("message", sample.message.empty() ? Json{} : Json{sample.message});
}

} // namespace

Document document_of(ExportedCampaign const& exported) {
    Campaign const& campaign = exported.campaign;
    Table table{"",
                {{"point", Align::left, true},
                 {"repetition"},
                 {"outcome", Align::left},
                 {"value"},
                 {"load"},
                 {"message", Align::left, true}},
                {}};
    for (Sample const& sample : campaign.samples) {
        MeasuredPoint const& point = campaign.points[sample.point];
        table.rows.push_back({printable(point.label), std::to_string(sample.repetition),
                              std::string{name_of(sample.outcome)},
                              has_value(sample) ? in_words(sample.value, point.unit) : "-",
                              sample.load ? significant(*sample.load) : "-", printable(sample.message)});
    }
    Document document{title_of(campaign), {}, ""};
    if (table.rows.empty()) {
        document.blocks.emplace_back(Paragraph{"No samples were taken."});
    } else {
        document.blocks.emplace_back(std::move(table));
    }
    return document;
}

Json json_of(ExportedCampaign const& exported) {
    Campaign const& campaign = exported.campaign;
    Json points = Json::array(), samples = Json::array();
    for (MeasuredPoint const& point : campaign.points) {
        points.push(Json::object()
                        .set("label", point.label)
                        .set("unit", point.unit)
                        .set("parameters", json_of(point.parameters)));
    }
    for (Sample const& sample : campaign.samples) { samples.push(json_of(sample)); }
    Json head = head_json(campaign, exported.in_hands, campaign.samples.size());
    return Json::object()
        .set("campaign", std::move(head))
        .set("settings", json_of(campaign.settings))
        .set("machine", json_of(campaign.machine))
        .set("points", std::move(points))
        .set("samples", std::move(samples));
}

Sheet sheet_of(ExportedCampaign const& exported) {
    Campaign const& campaign = exported.campaign;
    Sheet sheet{{"campaign", "kind", "label", "unit", "point", "repetition", "outcome", "value", "began_unix_ns",
                 "load", "message"},
                {}};
    for (Sample const& sample : campaign.samples) {
        MeasuredPoint const& point = campaign.points[sample.point];
        sheet.rows.push_back({std::to_string(campaign.id), campaign.kind, point.label, point.unit,
                              std::to_string(sample.point), std::to_string(sample.repetition),
                              std::string{name_of(sample.outcome)}, has_value(sample) ? exact(sample.value) : "",
                              std::to_string(sample.began_ns), sample.load ? exact(*sample.load) : "", sample.message});
    }
    return sheet;
}

} // namespace headroom::cli
