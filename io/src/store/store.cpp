#include "headroom/io/store.hpp"

#include "records/record.hpp"
#include "store/campaign_holds.hpp"
#include "store/store_database.hpp"
#include "store/store_rows.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace headroom::io {

using namespace headroom::measure;

struct Store::Database : StoreDatabase {
    Database(std::filesystem::path path, Access access, int patience_seconds)
        : StoreDatabase{std::move(path), access, patience_seconds}, holds{this->path()} {}
    CampaignHolds holds;
};

using Kind = StoreTransaction::Kind;

std::filesystem::path Store::default_path() {
    auto const folder = [](char const* variable) {
        char const* const value = std::getenv(variable);
        return std::filesystem::path{value == nullptr ? "" : value};
    };
    std::filesystem::path data = folder("XDG_DATA_HOME"); // a relative one is to be ignored
    if (!data.is_absolute()) {
        std::filesystem::path const home = folder("HOME");
        if (!home.is_absolute()) {
            usage_error("store of measurements", "has no place", "neither $XDG_DATA_HOME nor $HOME is a folder",
                        "give --store FILE");
        }
        data = home / ".local" / "share";
    }
    return data / "headroom" / "measurements.sqlite";
}

Store::Store(std::filesystem::path path, Access access, int patience_seconds)
    : database_{std::make_unique<Database>(std::move(path), access, patience_seconds)} {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

std::filesystem::path const& Store::path() const { return database_->path(); }

std::int64_t Store::begin(Campaign const& campaign) {
    StoreTransaction transaction{*database_, Kind::writes};
    std::int64_t const id = insert_campaign(*database_, campaign);
    insert_points(*database_, id, 0, campaign.points);
    take(id);
    transaction.commit();
    return id;
}

bool Store::take(std::int64_t campaign) { return database_->holds.take(campaign); }
bool Store::in_other_hands(std::int64_t campaign) const { return database_->holds.others_have(campaign); }

void Store::add_points(std::int64_t campaign, std::vector<MeasuredPoint> const& points) {
    StoreTransaction transaction{*database_, Kind::writes};
    require_campaign(*database_, campaign);
    insert_points(*database_, campaign, point_count(*database_, campaign), points);
    transaction.commit();
}

bool Store::add(std::int64_t campaign, Sample const& sample) {
    if (!std::isfinite(sample.value)) { throw ContractError{"a sample that is not finite"}; }
    StoreTransaction transaction{*database_, Kind::writes};
    require_campaign(*database_, campaign);
    if (sample.point >= point_count(*database_, campaign)) { throw ContractError{"a sample of no point"}; }
    bool const added = insert_sample(*database_, campaign, sample);
    transaction.commit();
    return added;
}

void Store::finish(std::int64_t campaign, CampaignState state, std::int64_t ended_ns) {
    StoreTransaction transaction{*database_, Kind::writes};
    require_campaign(*database_, campaign);
    StoreStatement change{*database_, "UPDATE campaigns SET state = ?1, ended_ns = ?2 WHERE id = ?3"};
    change.with(name_of(state));
    if (state == CampaignState::running) {
        change.with_nothing();
    } else {
        change.with(ended_ns);
    }
    change.with(campaign).run();
    transaction.commit();
}

void Store::remove(std::int64_t campaign) {
    StoreTransaction transaction{*database_, Kind::writes};
    require_campaign(*database_, campaign);
    if (in_other_hands(campaign)) {
        usage_error(database_->where(), fmt::format("campaign {} is being measured", campaign), "",
                    "remove it when that has ended");
    }
    for (char const* const sql :
         {"DELETE FROM samples WHERE campaign = ?1", "DELETE FROM point_parameters WHERE campaign = ?1",
          "DELETE FROM points WHERE campaign = ?1", "DELETE FROM campaign_facts WHERE campaign = ?1",
          "DELETE FROM campaigns WHERE id = ?1"}) {
        StoreStatement{*database_, sql}.with(campaign).run();
    }
    transaction.commit();
}

std::vector<Campaign> Store::list(std::string const& kind) const {
    if (database_->version() == 0) { return {}; }
    StoreTransaction const snapshot{*database_, Kind::reads};
    return read_heads(*database_, kind);
}

std::size_t Store::sample_count(std::int64_t campaign) const {
    if (database_->version() == 0) { return 0; }
    StoreStatement rows{*database_, "SELECT place FROM samples WHERE campaign = ?1"};
    rows.with(campaign);
    std::size_t count = 0;
    while (rows.next()) { ++count; }
    return count;
}

Campaign Store::load(std::int64_t campaign) const {
    if (database_->version() == 0) { refuse_campaign(*database_, campaign); }
    StoreTransaction const snapshot{*database_, Kind::reads};
    Campaign found = read_head(*database_, campaign);
    read_points(*database_, found);
    read_samples(*database_, found);
    return found;
}

std::optional<std::int64_t> Store::unfinished(std::string const& kind, Facts const& settings) const {
    std::optional<std::int64_t> latest;
    for (Campaign const& campaign : list(kind)) {
        bool const same = campaign.state != CampaignState::done && campaign.settings == settings;
        if (same && !in_other_hands(campaign.id)) { latest = campaign.id; }
    }
    return latest;
}

} // namespace headroom::io
