#include "headroom/io/history.hpp"

namespace headroom::io {

using namespace headroom::measure;

namespace {

std::optional<double> seconds_since_1970(std::int64_t ns) {
    return ns == 0 ? std::nullopt : std::optional{1e-9 * static_cast<double>(ns)};
}

constexpr Field head_rows[] = {
    {"id", "Number of the campaign in its store.", member<&CampaignHead::id>},
    {"kind", "Measurement: roofline, comm or scaling.", member<&CampaignHead::kind>},
    {"name", "Name of --name; null without one.", [](CampaignHead const& head) { return if_known(head.name); }},
    {"state", "State: running, done, interrupted or broken-off.", member<&CampaignHead::state>},
    {"began", "Begin, UTC.", [](CampaignHead const& head) { return utc_text(head.began_ns); }},
    {"ended", "End, UTC; null while it runs.", [](CampaignHead const& head) { return utc_text(head.ended_ns); }},
    {"began_unix_seconds", "Begin, since 1970.",
     [](CampaignHead const& head) { return seconds_since_1970(head.began_ns); }},
    {"ended_unix_seconds", "End, since 1970.",
     [](CampaignHead const& head) { return seconds_since_1970(head.ended_ns); }},
    {"samples", "Number of samples.", member<&CampaignHead::samples>},
};
constexpr FieldTable head_table = field_table<CampaignHead>("campaign_head", head_rows);

constexpr Field listed_rows[] = {
    {"*", "Number, kind, name, state and times.", member<&ListedCampaign::head>},
    {"host", "Name of the machine; null where it is not known.",
     [](ListedCampaign const& row) { return if_known(row.host); }},
    {"settings", "Options of the measurement.", [](ListedCampaign const& row) { return unique_facts(row.settings); }},
};
constexpr FieldTable listed_table = field_table<ListedCampaign>("listed_campaign", listed_rows);

constexpr Field stored_rows[] = {
    {"*", "Number, kind, name, state and times.", member<&StoredCampaign::head>},
    {"settings", "Options of the measurement.",
     [](StoredCampaign const& stored) { return unique_facts(stored.campaign.settings); }},
    {"machine", "Facts of the machine.",
     [](StoredCampaign const& stored) { return unique_facts(stored.campaign.machine); }},
    {"points", "Statistics of each point.", member<&StoredCampaign::points>},
};
constexpr FieldTable stored_table = field_table<StoredCampaign>("shown_campaign", stored_rows);

/// A campaign with its samples, without statistics.
struct Export {
    StoredCampaign const* stored;
};
constexpr Field export_rows[] = {
    {"campaign", "Number, kind, name, state and times.",
     [](Export const& e) -> CampaignHead const& { return e.stored->head; }},
    {"settings", "Options of the measurement.",
     [](Export const& e) { return unique_facts(e.stored->campaign.settings); }},
    {"machine", "Facts of the machine.", [](Export const& e) { return unique_facts(e.stored->campaign.machine); }},
    {"points", "Points, by index.",
     [](Export const& e) -> std::vector<MeasuredPoint> const& { return e.stored->campaign.points; }},
    {"samples", "Samples in the order in which they were taken.",
     [](Export const& e) -> std::vector<Sample> const& { return e.stored->campaign.samples; }},
};
constexpr FieldTable export_table = field_table<Export>("exported_campaign", export_rows);
FieldTable const& field_table_of(Export const*) { return export_table; }

constexpr Field exported_sample_rows[] = {
    {"campaign", "Number of the campaign.", [](ExportedSample const& row) { return row.campaign->id; }},
    {"kind", "Measurement: roofline, comm or scaling.",
     [](ExportedSample const& row) -> std::string const& { return row.campaign->kind; }},
    {"label", "Name of the point.", [](ExportedSample const& row) -> std::string const& { return row.point().label; }},
    {"unit", "Unit of the value.", [](ExportedSample const& row) -> std::string const& { return row.point().unit; }},
    {"*", "The sample.", [](ExportedSample const& row) -> Sample const& { return *row.sample; }},
};
constexpr FieldTable exported_sample_table = field_table<ExportedSample>("exported_sample", exported_sample_rows);

/// The campaign of an answer where the action is this one.
template <HistoryAction Action> StoredCampaign const* campaign_of(HistoryAnswer const& answer) {
    return answer.action == Action ? &*answer.campaign : nullptr;
}

std::optional<Export> export_of(HistoryAnswer const& answer) {
    auto const* stored = campaign_of<HistoryAction::export_samples>(answer);
    return stored != nullptr ? std::optional{Export{stored}} : std::nullopt;
}

CampaignHead const* removed_from(HistoryAnswer const& answer) {
    auto const* stored = campaign_of<HistoryAction::remove>(answer);
    return stored != nullptr ? &stored->head : nullptr;
}

constexpr Field history_rows[] = {
    {"store", "File of the measurements.", member<&HistoryAnswer::store>},
    {"action", "Name of the field that holds the answer; the others are null.", member<&HistoryAnswer::action>},
    {"list", "Campaigns of the store, the oldest first.", member<&HistoryAnswer::list>},
    {"show", "One campaign with statistics of its points.", from<campaign_of<HistoryAction::show>>},
    {"compare", "Two campaigns, point by point.", member<&HistoryAnswer::comparison>},
    {"export", "One campaign with all samples.", from<export_of>},
    {"remove", "The campaign that was removed.", from<removed_from>},
};
constexpr FieldTable history_table = field_table<HistoryAnswer>("history", history_rows);

} // namespace

FieldTable const& field_table_of(CampaignHead const*) { return head_table; }
FieldTable const& field_table_of(ListedCampaign const*) { return listed_table; }
FieldTable const& field_table_of(StoredCampaign const*) { return stored_table; }
FieldTable const& field_table_of(ExportedSample const*) { return exported_sample_table; }
FieldTable const& field_table_of(HistoryAnswer const*) { return history_table; }

} // namespace headroom::io
