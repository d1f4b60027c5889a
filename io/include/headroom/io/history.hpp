#pragma once

#include "headroom/fields.hpp"
#include "headroom/io/store.hpp"
#include "headroom/measure/campaign_comparison.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// State of a stored campaign.
enum class StoredState {
    running, ///< being measured right now
    done,
    interrupted, ///< stopped by the user
    broken_off,  ///< its process ended without a word
};
/// "running", "broken-off"
std::string_view name_of(StoredState state);

/// A campaign without its points and samples.
struct CampaignHead {
    std::int64_t id = 0;
    std::string kind, name; ///< name: may be empty
    StoredState state = StoredState::done;
    std::int64_t began_ns = 0, ended_ns = 0; ///< since 1970; 0: not known
    std::size_t samples = 0;
};
FieldTable const& field_table_of(CampaignHead const*);

struct ListedCampaign {
    CampaignHead head;
    measure::Facts settings;
    std::string host; ///< empty: not known
};
FieldTable const& field_table_of(ListedCampaign const*);

/// A campaign with its samples.
struct StoredCampaign {
    CampaignHead head;
    measure::Campaign campaign;
    std::vector<measure::PointSummary> points = {}; ///< statistics of the samples, where they are shown
};
FieldTable const& field_table_of(StoredCampaign const*);

/// A sample with its campaign: a line of CSV.
struct ExportedSample {
    measure::Campaign const* campaign = nullptr;
    measure::Sample const* sample = nullptr;
    [[nodiscard]] measure::MeasuredPoint const& point() const { return campaign->points[sample->point]; }
};
FieldTable const& field_table_of(ExportedSample const*);
std::vector<ExportedSample> exported_samples(measure::Campaign const& campaign);

enum class HistoryAction { list, show, compare, export_samples, remove };
/// "list", "export"
std::string_view name_of(HistoryAction action);

struct HistoryAnswer {
    std::string store; ///< its file
    HistoryAction action = HistoryAction::list;
    std::optional<std::vector<ListedCampaign>> list = {};
    std::optional<measure::CampaignComparison> comparison = {};
    std::optional<StoredCampaign> campaign = {}; ///< that is shown, exported or was removed
};
FieldTable const& field_table_of(HistoryAnswer const*);

/// Campaigns of a store, the oldest first. `kind` empty: all.
std::vector<ListedCampaign> listed_campaigns(Store const& store, std::string const& kind);
/// Without statistics. Errors: InputError{usage} without a campaign of that number.
StoredCampaign stored_campaign(Store const& store, std::int64_t id);

/// "2026-03-01T12:00:05Z" of nanoseconds since 1970; nothing for 0.
std::optional<std::string> utc_text(std::int64_t ns);

} // namespace headroom::io
