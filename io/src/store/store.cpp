#include "headroom/io/store.hpp"

#include "records/record.hpp"
#include "store/store_database.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sqlite3.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace headroom::io {

namespace {

using namespace headroom::measure;

constexpr std::string_view setting = "setting", machine = "machine";
constexpr std::size_t longest_message = 4096; ///< bytes: the end of a command's output, not all of it

void insert_facts(StoreDatabase const& database, std::int64_t campaign, std::string_view subject, Facts const& facts) {
    std::int64_t place = 0;
    for (auto const& [name, value] : facts) {
        StoreStatement{database, "INSERT INTO campaign_facts (campaign, subject, place, name, value) "
                                 "VALUES (?1, ?2, ?3, ?4, ?5)"}
            .with(campaign)
            .with(subject)
            .with(place++)
            .with(name)
            .with(value)
            .run();
    }
}

Facts read_facts(StoreDatabase const& database, std::int64_t campaign, std::string_view subject) {
    StoreStatement rows{database, "SELECT name, value FROM campaign_facts WHERE campaign = ?1 AND subject = ?2 "
                                  "ORDER BY place"};
    rows.with(campaign).with(subject);
    Facts facts;
    while (rows.next()) {
        std::string name = rows.text(0);
        facts.emplace_back(std::move(name), rows.text(1));
    }
    return facts;
}

/// The row of a campaign: id, kind, name, state, began_ns, ended_ns.
Campaign head_of(StoreStatement& row) {
    Campaign campaign;
    campaign.id = row.whole(0);
    campaign.kind = row.text(1);
    campaign.name = row.text(2);
    auto const state = campaign_state_from(row.text(3));
    if (!state) { row.fail(3, "no state of a campaign"); }
    campaign.state = *state;
    campaign.began_ns = row.whole(4);
    campaign.ended_ns = row.is_nothing(5) ? 0 : row.whole(5);
    return campaign;
}

void complete_head(StoreDatabase const& database, Campaign& campaign) {
    campaign.settings = read_facts(database, campaign.id, setting);
    campaign.machine = read_facts(database, campaign.id, machine);
}

bool has_value(SampleOutcome outcome) {
    return outcome == SampleOutcome::measured || outcome == SampleOutcome::warm_up;
}

constexpr char const* not_found_again = "what was written into it is not found again";

/// The place after the last sample.
std::int64_t next_place(StoreDatabase const& database, std::int64_t campaign) {
    StoreStatement last{database, "SELECT place FROM samples WHERE campaign = ?1 ORDER BY place DESC LIMIT 1"};
    last.with(campaign);
    return last.next() ? std::int64_t{last.index(0)} + 1 : 0;
}

/// Where a sample goes; nothing where its point has this repetition.
std::optional<std::int64_t> free_place(StoreDatabase const& database, std::int64_t campaign, Sample const& sample) {
    StoreStatement same{database,
                        "SELECT place FROM samples WHERE campaign = ?1 AND point = ?2 AND repetition = ?3 LIMIT 1"};
    same.with(campaign).with(std::int64_t{sample.point}).with(std::int64_t{sample.repetition});
    if (same.next()) { return std::nullopt; }
    return next_place(database, campaign);
}

/// Errors: InputError{usage}: there is no campaign of this number.
[[noreturn]] void refuse_campaign(StoreDatabase const& database, std::int64_t campaign) {
    refuse(database.where(), fmt::format("there is no campaign {}", campaign), "", "see headroom history list");
}

void require_campaign(StoreDatabase const& database, std::int64_t campaign) {
    StoreStatement row{database, "SELECT id FROM campaigns WHERE id = ?1"};
    if (!row.with(campaign).next()) { refuse_campaign(database, campaign); }
}

std::int64_t insert_campaign(StoreDatabase const& database, Campaign const& campaign) {
    StoreStatement row{database, "INSERT INTO campaigns (kind, name, state, began_ns, ended_ns) "
                                 "VALUES (?1, ?2, ?3, ?4, ?5)"};
    row.with(campaign.kind).with(campaign.name).with(name_of(campaign.state)).with(campaign.began_ns);
    if (campaign.state == CampaignState::running) {
        row.with_nothing();
    } else {
        row.with(campaign.ended_ns);
    }
    row.run();
    std::int64_t const id = sqlite3_last_insert_rowid(database.handle());
    insert_facts(database, id, setting, campaign.settings);
    insert_facts(database, id, machine, campaign.machine);
    return id;
}

std::size_t point_count(StoreDatabase const& database, std::int64_t campaign) {
    StoreStatement last{database, "SELECT point FROM points WHERE campaign = ?1 ORDER BY point DESC LIMIT 1"};
    last.with(campaign);
    return last.next() ? std::size_t{last.index(0)} + 1 : 0;
}

/// `first`: how many there are already.
void insert_points(StoreDatabase const& database, std::int64_t campaign, std::size_t first,
                   std::vector<MeasuredPoint> const& points) {
    auto point = static_cast<std::int64_t>(first);
    for (MeasuredPoint const& row : points) {
        StoreStatement{database, "INSERT INTO points (campaign, point, label, unit) VALUES (?1, ?2, ?3, ?4)"}
            .with(campaign)
            .with(point)
            .with(row.label)
            .with(row.unit)
            .run();
        std::int64_t place = 0;
        for (auto const& [name, value] : row.parameters) {
            StoreStatement{database, "INSERT INTO point_parameters (campaign, point, place, name, value) "
                                     "VALUES (?1, ?2, ?3, ?4, ?5)"}
                .with(campaign)
                .with(point)
                .with(place++)
                .with(name)
                .with(value)
                .run();
        }
        ++point;
    }
    if (!points.empty() && point_count(database, campaign) != first + points.size()) {
        database.refuse_damage(not_found_again);
    }
}

/// False where one of this point and repetition is there.
bool insert_sample(StoreDatabase const& database, std::int64_t campaign, Sample const& sample) {
    auto const place = free_place(database, campaign, sample);
    if (!place) { return false; }
    StoreStatement row{database, "INSERT INTO samples (campaign, place, point, repetition, value, outcome, message, "
                                 "began_ns, load) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"};
    row.with(campaign).with(*place).with(std::int64_t{sample.point}).with(std::int64_t{sample.repetition});
    if (has_value(sample.outcome)) {
        row.with(sample.value);
    } else {
        row.with_nothing();
    }
    row.with(name_of(sample.outcome)).with(std::string_view{sample.message}.substr(0, longest_message));
    row.with(sample.began_ns);
    if (sample.load && std::isfinite(*sample.load)) {
        row.with(*sample.load);
    } else {
        row.with_nothing();
    }
    row.run();
    if (next_place(database, campaign) != *place + 1) { database.refuse_damage(not_found_again); }
    return true;
}

/// With settings and machine, without points and samples.
std::vector<Campaign> read_heads(StoreDatabase const& database, std::string const& kind) {
    std::vector<Campaign> heads;
    {
        StoreStatement rows{database, "SELECT id, kind, name, state, began_ns, ended_ns FROM campaigns ORDER BY id"};
        while (rows.next()) {
            Campaign campaign = head_of(rows);
            if (kind.empty() || campaign.kind == kind) { heads.push_back(std::move(campaign)); }
        }
    }
    for (Campaign& campaign : heads) { complete_head(database, campaign); }
    return heads;
}

Campaign read_head(StoreDatabase const& database, std::int64_t campaign) {
    StoreStatement row{database, "SELECT id, kind, name, state, began_ns, ended_ns FROM campaigns WHERE id = ?1"};
    if (!row.with(campaign).next()) { refuse_campaign(database, campaign); }
    Campaign head = head_of(row);
    complete_head(database, head);
    return head;
}

void read_points(StoreDatabase const& database, Campaign& campaign) {
    StoreStatement rows{database, "SELECT point, label, unit FROM points WHERE campaign = ?1 ORDER BY point"};
    rows.with(campaign.id);
    while (rows.next()) {
        if (rows.index(0) != campaign.points.size()) { rows.fail(0, "not the next number"); }
        std::string label = rows.text(1);
        campaign.points.push_back({std::move(label), {}, rows.text(2)});
    }
    StoreStatement parameters{database, "SELECT point, name, value FROM point_parameters WHERE campaign = ?1 "
                                        "ORDER BY point, place"};
    parameters.with(campaign.id);
    while (parameters.next()) {
        std::uint32_t const point = parameters.index(0);
        if (point >= campaign.points.size()) { parameters.fail(0, "there is no such point"); }
        std::string name = parameters.text(1);
        campaign.points[point].parameters.emplace_back(std::move(name), parameters.text(2));
    }
}

void read_samples(StoreDatabase const& database, Campaign& campaign) {
    std::string const load = database.version() >= 2 ? "load" : "NULL";
    StoreStatement rows{database, fmt::format("SELECT point, repetition, value, outcome, message, began_ns, {} "
                                              "FROM samples WHERE campaign = ?1 ORDER BY place",
                                              load)};
    rows.with(campaign.id);
    while (rows.next()) {
        Sample sample;
        sample.point = rows.index(0);
        if (sample.point >= campaign.points.size()) { rows.fail(0, "there is no such point"); }
        sample.repetition = rows.index(1);
        auto const outcome = sample_outcome_from(rows.text(3));
        if (!outcome) { rows.fail(3, "no outcome of a sample"); }
        sample.outcome = *outcome;
        if (has_value(sample.outcome)) { sample.value = rows.number(2); }
        if (!std::isfinite(sample.value)) { rows.fail(2, "not finite"); }
        sample.message = rows.text(4);
        sample.began_ns = rows.whole(5);
        sample.load = rows.number_or_nothing(6);
        campaign.samples.push_back(std::move(sample));
    }
}

struct flock byte_of(std::int64_t campaign) {
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = campaign;
    range.l_len = 1;
    return range;
}

} // namespace

namespace held { // of the store's database, which has a name outside

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

} // namespace held

using namespace headroom::measure;

struct Store::Database : StoreDatabase {
    Database(std::filesystem::path path, Access access, int patience_seconds)
        : StoreDatabase{std::move(path), access, patience_seconds}, holds{this->path()} {}
    held::CampaignHolds holds;
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
