#include "headroom/io/history.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <utility>

namespace headroom::io {

using namespace headroom::measure;

namespace {

StoredState state_of(Campaign const& campaign, bool in_hands) {
    switch (campaign.state) {
    case CampaignState::done: return StoredState::done;
    case CampaignState::interrupted: return StoredState::interrupted;
    case CampaignState::running: break;
    }
    return in_hands ? StoredState::running : StoredState::broken_off;
}

CampaignHead head_of(Campaign const& campaign, bool in_hands, std::size_t samples) {
    return {.id = campaign.id,
            .kind = campaign.kind,
            .name = campaign.name,
            .state = state_of(campaign, in_hands),
            .began_ns = campaign.began_ns,
            .ended_ns = campaign.ended_ns,
            .samples = samples};
}

} // namespace

std::string_view name_of(StoredState state) {
    constexpr std::array<std::string_view, 4> names{"running", "done", "interrupted", "broken-off"};
    return names.at(static_cast<std::size_t>(state));
}

std::string_view name_of(HistoryAction action) {
    constexpr std::array<std::string_view, 5> names{"list", "show", "compare", "export", "remove"};
    return names.at(static_cast<std::size_t>(action));
}

std::vector<ExportedSample> exported_samples(Campaign const& campaign) {
    std::vector<ExportedSample> rows;
    for (Sample const& sample : campaign.samples) { rows.push_back({&campaign, &sample}); }
    return rows;
}

std::vector<ListedCampaign> listed_campaigns(Store const& store, std::string const& kind) {
    std::vector<ListedCampaign> rows;
    for (Campaign& campaign : store.list(kind)) {
        CampaignHead head = head_of(campaign, store.in_other_hands(campaign.id), store.sample_count(campaign.id));
        rows.push_back({.head = std::move(head),
                        .settings = std::move(campaign.settings),
                        .host = std::string{fact(campaign.machine, "host").value_or("")}});
    }
    return rows;
}

StoredCampaign stored_campaign(Store const& store, std::int64_t id) {
    Campaign campaign = store.load(id);
    CampaignHead head = head_of(campaign, store.in_other_hands(id), campaign.samples.size());
    return {.head = std::move(head), .campaign = std::move(campaign)};
}

std::optional<std::string> utc_text(std::int64_t ns) {
    if (ns == 0) { return std::nullopt; }
    // whole seconds first: the day of the earliest time there is has no nanoseconds
    auto const time = std::chrono::floor<std::chrono::seconds>(
        std::chrono::sys_time<std::chrono::nanoseconds>{std::chrono::nanoseconds{ns}});
    auto const day = std::chrono::floor<std::chrono::days>(time);
    std::chrono::year_month_day const date{day};
    std::chrono::hh_mm_ss const clock{time - day};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count());
}

} // namespace headroom::io
