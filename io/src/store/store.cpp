#include "headroom/io/store.hpp"

#include "records/record.hpp"
#include "store/store_database.hpp"
#include "store/store_rows.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace headroom::io {

namespace {

/// Campaigns that processes are measuring right now. Each is a lock of one byte in a file next to the store, which ends
/// with its process, however that ends. Never in the store's own file: a process that closes a file gives up every lock
/// that SQLite has on it.
class CampaignHolds {
public:
    explicit CampaignHolds(std::filesystem::path store);
    ~CampaignHolds();
    CampaignHolds(CampaignHolds const&) = delete;
    CampaignHolds& operator=(CampaignHolds const&) = delete;

    /// False where another has it. Where the file system knows no locks nobody has anything.
    bool take(std::int64_t campaign);
    [[nodiscard]] bool others_have(std::int64_t campaign) const;

private:
    std::filesystem::path store_, path_;
    int descriptor_ = -1; ///< open from the first `take` on
};

struct flock byte_of(std::int64_t campaign) {
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = campaign;
    range.l_len = 1;
    return range;
}

CampaignHolds::CampaignHolds(std::filesystem::path store) : store_{std::move(store)}, path_{store_} {
    path_ += "-held";
}

CampaignHolds::~CampaignHolds() {
    if (descriptor_ >= 0) { ::close(descriptor_); }
}

bool CampaignHolds::take(std::int64_t campaign) {
    if (descriptor_ < 0) { // whoever may write the store may hold its campaigns
        struct stat store {};
        bool const there = ::stat(store_.c_str(), &store) == 0;
        descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, there ? store.st_mode & 0666U : 0600U);
    }
    if (descriptor_ < 0) { return true; }
    struct flock range = byte_of(campaign);
    return ::fcntl(descriptor_, F_OFD_SETLK, &range) == 0 || (errno != EAGAIN && errno != EACCES);
}

/// Asked through `descriptor_` where there is one: what this object has is its own.
bool CampaignHolds::others_have(std::int64_t campaign) const {
    int const asked = descriptor_ >= 0 ? descriptor_ : ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (asked < 0) { return false; }
    struct flock range = byte_of(campaign);
    bool const locked = ::fcntl(asked, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
    if (descriptor_ < 0) { ::close(asked); }
    return locked;
}

} // namespace

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
            refuse("store of measurements", "has no place", "neither $XDG_DATA_HOME nor $HOME is a folder",
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
        refuse(database_->where(), fmt::format("campaign {} is being measured", campaign), "",
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
