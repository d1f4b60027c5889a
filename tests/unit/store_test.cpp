#include "support/scratch_folder.hpp"

#include "headroom/error.hpp"
#include "headroom/io/store.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headroom {

using namespace headroom::measure;

namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace fs = std::filesystem;
using Access = io::Store::Access;

std::string bytes_in(fs::path const& path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

/// A folder of its own for each test, that goes with it.
class StoreTest : public ::testing::Test {
protected:
    [[nodiscard]] fs::path file() const { return folder_ / "measurements.sqlite"; }

    void run_sql(std::string const& sql) const {
        sqlite3* database = nullptr;
        ASSERT_EQ(sqlite3_open(file().c_str(), &database), SQLITE_OK);
        char* message = nullptr;
        EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
        sqlite3_free(message);
        sqlite3_close(database);
    }

    /// The line of the refusal; it is one line, and begins with the file.
    std::string refusal(Fault fault, std::function<void()> const& call) const {
        try {
            call();
        } catch (InputError const& error) {
            EXPECT_EQ(error.fault(), fault) << error.what();
            std::string const line = error.what();
            EXPECT_THAT(line, StartsWith(file().string()));
            EXPECT_EQ(line.find('\n'), std::string::npos);
            return line;
        }
        return "not refused";
    }
    std::string refusal_to_open(Access access) const {
        return refusal(Fault::unreadable, [&] { io::Store{file(), access, 0}; });
    }
    std::string refusal_to_load(std::int64_t campaign) const {
        return refusal(Fault::unreadable, [&] {
            static_cast<void>(io::Store{file(), Access::read, 0}.load(campaign));
        });
    }

    test::ScratchFolder scratch_ = test::ScratchFolder::in_memory();
    fs::path folder_ = scratch_.path();
};

Campaign two_points() {
    Campaign campaign;
    campaign.kind = "comm";
    campaign.name = "before";
    campaign.settings = {{"ranks", "2"}, {"sizes", "1 KiB"}};
    campaign.machine = {{"processor", "one \"of\" them"}, {"host", "\xC3\xA4 '; DROP TABLE samples"}};
    campaign.began_ns = 1'700'000'000'123'456'789;
    campaign.points = {{"a", {{"bytes", "1024"}, {"ranks", "2"}}, "seconds"}, {"b", {}, "bytes/second"}};
    return campaign;
}

Sample sample_of(std::uint32_t point, std::uint32_t repetition, double value) {
    Sample sample;
    sample.point = point;
    sample.repetition = repetition;
    sample.value = value;
    sample.began_ns = 1'700'000'001'000'000'000 + repetition;
    sample.load = 0.25;
    return sample;
}

Sample failed_sample(std::uint32_t point, std::uint32_t repetition, std::string message) {
    Sample sample = sample_of(point, repetition, 0.0);
    sample.outcome = SampleOutcome::failed;
    sample.message = std::move(message);
    sample.load = std::nullopt;
    return sample;
}

TEST_F(StoreTest, WhatIsKeptComesBack) {
    Campaign const asked = two_points();
    std::vector<Sample> const samples{sample_of(1, 0, 0.1), sample_of(0, 0, 5e-324), failed_sample(0, 1, "exit 3"),
                                      sample_of(0, 2, 1.7976931348623157e308), sample_of(2, 7, 1.0 / 3.0)};
    std::int64_t id = 0;
    {
        io::Store store{file(), Access::write};
        id = store.begin(asked);
        store.add_points(id, {{"c", {{"x", ""}}, "seconds"}});
        for (Sample const& sample : samples) { EXPECT_TRUE(store.add(id, sample)); }
        store.finish(id, CampaignState::done, 1'700'000'002'000'000'001);
    }
    io::Store const store{file(), Access::read};
    Campaign const found = store.load(id);
    EXPECT_EQ(found.id, id);
    EXPECT_EQ(found.kind, asked.kind);
    EXPECT_EQ(found.name, asked.name);
    EXPECT_EQ(found.settings, asked.settings);
    EXPECT_EQ(found.machine, asked.machine);
    EXPECT_EQ(found.state, CampaignState::done);
    EXPECT_EQ(found.began_ns, asked.began_ns);
    EXPECT_EQ(found.ended_ns, 1'700'000'002'000'000'001);
    EXPECT_THAT(found.points,
                ElementsAre(asked.points[0], asked.points[1], MeasuredPoint{"c", {{"x", ""}}, "seconds"}));
    EXPECT_EQ(found.samples, samples); // to the last digit, and in the order in which they were taken
    EXPECT_EQ(store.sample_count(id), samples.size());
}

TEST_F(StoreTest, ASampleIsKeptOnce) {
    io::Store store{file(), Access::write};
    std::int64_t const id = store.begin(two_points());
    EXPECT_TRUE(store.add(id, sample_of(0, 0, 1.0)));
    EXPECT_FALSE(store.add(id, sample_of(0, 0, 2.0)));
    EXPECT_TRUE(store.add(id, sample_of(1, 0, 3.0)));
    EXPECT_EQ(store.load(id).samples.front().value, 1.0);
    EXPECT_EQ(store.sample_count(id), 2U);
}

TEST_F(StoreTest, AValueThatIsNotThereIsNull) {
    io::Store store{file(), Access::write};
    std::int64_t const id = store.begin(two_points());
    store.add(id, failed_sample(0, 0, std::string(10'000, 'x')));
    Sample const found = store.load(id).samples.front();
    EXPECT_EQ(found.value, 0.0);
    EXPECT_EQ(found.message.size(), 4096U);
    EXPECT_FALSE(found.load);
    run_sql("CREATE TABLE only_nulls AS SELECT 1 AS fine FROM samples WHERE value IS NULL");
    run_sql("INSERT INTO samples SELECT campaign, 1, 0, 1, 1.0, 'measured', '', 0, NULL FROM samples, only_nulls");
    EXPECT_EQ(store.sample_count(id), 2U); // the row of only_nulls was there
}

TEST_F(StoreTest, ListIsOldestFirstAndByKind) {
    io::Store store{file(), Access::write};
    Campaign other = two_points();
    other.kind = "roofline";
    std::int64_t const a = store.begin(two_points()), b = store.begin(other), c = store.begin(two_points());
    auto const ids = [&](std::string const& kind) {
        std::vector<std::int64_t> found;
        for (Campaign const& campaign : store.list(kind)) { found.push_back(campaign.id); }
        return found;
    };
    EXPECT_THAT(ids(""), ElementsAre(a, b, c));
    EXPECT_THAT(ids("comm"), ElementsAre(a, c));
    EXPECT_THAT(ids("nothing"), ElementsAre());
}

TEST_F(StoreTest, RemovedIsGoneAndItsNumberIsNotGivenAgain) {
    io::Store store{file(), Access::write};
    std::int64_t const first = store.begin(two_points()), last = store.begin(two_points());
    store.add(last, sample_of(0, 0, 1.0));
    store.add(first, sample_of(0, 0, 1.0));
    store.remove(last);
    EXPECT_EQ(store.list().size(), 1U);
    EXPECT_EQ(store.sample_count(last), 0U);
    EXPECT_EQ(store.sample_count(first), 1U);
    EXPECT_GT(store.begin(two_points()), last);
    EXPECT_THAT(refusal(Fault::usage, [&] { store.remove(last); }), HasSubstr("there is no campaign"));
    EXPECT_THAT(refusal(Fault::usage, [&] { store.add(last, sample_of(0, 1, 1.0)); }), HasSubstr("no campaign"));
    EXPECT_THAT(refusal(Fault::usage, [&] { static_cast<void>(store.load(77)); }),
                HasSubstr("there is no campaign 77"));
}

TEST_F(StoreTest, MistakesOfTheProgramAreNotOnesOfTheUser) {
    io::Store store{file(), Access::write};
    std::int64_t const id = store.begin(two_points());
    EXPECT_THROW(store.add(id, sample_of(2, 0, 1.0)), ContractError);
    EXPECT_THROW(store.add(id, sample_of(0, 0, std::numeric_limits<double>::infinity())), ContractError);
    EXPECT_EQ(store.sample_count(id), 0U);
}

TEST_F(StoreTest, UnfinishedIsTheLatestThatNobodyHas) {
    Facts const settings = two_points().settings;
    std::int64_t first = 0, second = 0;
    {
        io::Store one{file(), Access::write};
        io::Store two{file(), Access::write};
        first = one.begin(two_points());
        second = two.begin(two_points());
        EXPECT_TRUE(one.in_other_hands(second));
        EXPECT_FALSE(one.in_other_hands(first));
        EXPECT_EQ(one.unfinished("comm", settings), first); // its own is its own
        EXPECT_EQ(two.unfinished("comm", settings), second);
        EXPECT_FALSE(one.take(second));
        EXPECT_THAT(refusal(Fault::usage, [&] { one.remove(second); }), HasSubstr("is being measured"));
        two.finish(second, CampaignState::interrupted, 5);
    }
    io::Store store{file(), Access::write};
    EXPECT_EQ(store.unfinished("comm", settings), second);
    EXPECT_TRUE(store.take(second));
    store.finish(second, CampaignState::done, 6);
    EXPECT_EQ(store.unfinished("comm", settings), first);
    EXPECT_EQ(store.unfinished("roofline", settings), std::nullopt);
    EXPECT_EQ(store.unfinished("comm", {{"ranks", "2"}}), std::nullopt);
}

// ---- versions -------------------------------------------------------------------------------------------------------

/// A store as the first version wrote it: samples without a load.
constexpr char const* first_layout = R"sql(
PRAGMA application_id = 1212437069;
PRAGMA user_version = 1;
CREATE TABLE campaigns (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, name TEXT NOT NULL,
    state TEXT NOT NULL, began_ns INTEGER NOT NULL, ended_ns INTEGER);
CREATE TABLE campaign_facts (campaign INTEGER NOT NULL, subject TEXT NOT NULL, place INTEGER NOT NULL,
    name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (campaign, subject, place)) WITHOUT ROWID;
CREATE TABLE points (campaign INTEGER NOT NULL, point INTEGER NOT NULL, label TEXT NOT NULL, unit TEXT NOT NULL,
    PRIMARY KEY (campaign, point), UNIQUE (campaign, label)) WITHOUT ROWID;
CREATE TABLE point_parameters (campaign INTEGER NOT NULL, point INTEGER NOT NULL, place INTEGER NOT NULL,
    name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (campaign, point, place)) WITHOUT ROWID;
CREATE TABLE samples (campaign INTEGER NOT NULL, place INTEGER NOT NULL, point INTEGER NOT NULL,
    repetition INTEGER NOT NULL, value REAL, outcome TEXT NOT NULL, message TEXT NOT NULL, began_ns INTEGER NOT NULL,
    PRIMARY KEY (campaign, place), UNIQUE (campaign, point, repetition)) WITHOUT ROWID;
INSERT INTO campaigns VALUES (4, 'comm', 'old', 'interrupted', 100, 200);
INSERT INTO campaign_facts VALUES (4, 'setting', 0, 'ranks', '2'), (4, 'machine', 0, 'host', 'then');
INSERT INTO points VALUES (4, 0, 'a', 'seconds');
INSERT INTO point_parameters VALUES (4, 0, 0, 'bytes', '8');
INSERT INTO samples VALUES (4, 0, 0, 0, 1.25, 'measured', '', 110), (4, 1, 0, 1, NULL, 'failed', 'why', 120);
)sql";

void expect_old(Campaign const& found) {
    EXPECT_EQ(found.name, "old");
    EXPECT_EQ(found.settings, (Facts{{"ranks", "2"}}));
    EXPECT_EQ(found.points, (std::vector<MeasuredPoint>{{"a", {{"bytes", "8"}}, "seconds"}}));
    ASSERT_GE(found.samples.size(), 2U);
    EXPECT_EQ(found.samples[0].value, 1.25);
    EXPECT_EQ(found.samples[0].load, std::nullopt); // it was not kept then, and is not made up
    EXPECT_EQ(found.samples[1].message, "why");
}

TEST_F(StoreTest, AnOlderOneIsReadAsItIs) {
    run_sql(first_layout);
    auto const before = fs::last_write_time(file());
    expect_old(io::Store{file(), Access::read}.load(4));
    EXPECT_EQ(fs::last_write_time(file()), before);
    run_sql(
        "PRAGMA user_version = 1; INSERT INTO samples VALUES (4, 2, 0, 2, 2.0, 'measured', '', 130)"); // still its layout
}

TEST_F(StoreTest, AnOlderOneIsBroughtToThePresentVersionWhereItIsWritten) {
    run_sql(first_layout);
    {
        io::Store store{file(), Access::write};
        expect_old(store.load(4));
        EXPECT_TRUE(store.add(4, sample_of(0, 2, 3.0)));
        EXPECT_FALSE(store.add(4, sample_of(0, 0, 9.0)));
        EXPECT_EQ(store.unfinished("comm", {{"ranks", "2"}}), 4);
    }
    Campaign const found = io::Store{file(), Access::read}.load(4);
    expect_old(found);
    EXPECT_EQ(found.samples.back(), sample_of(0, 2, 3.0));
    run_sql("UPDATE samples SET load = 1.0"); // the column is there
}

TEST_F(StoreTest, AMigrationIsWholeOrNotAtAll) {
    run_sql(first_layout);
    run_sql("ALTER TABLE samples ADD COLUMN load REAL"); // as if the step had been taken and its version not written
    EXPECT_THAT(refusal_to_open(Access::write), HasSubstr("duplicate column"));
    expect_old(io::Store{file(), Access::read}.load(4));
}

TEST_F(StoreTest, ANewerOneIsLeftAlone) {
    { io::Store{file(), Access::write}.begin(two_points()); }
    run_sql("PRAGMA user_version = 99");
    for (Access const access : {Access::read, Access::write}) {
        EXPECT_THAT(refusal_to_open(access), HasSubstr("newer version of headroom (its layout is 99"));
    }
    run_sql("PRAGMA user_version = 2");
    EXPECT_EQ(io::Store(file(), Access::read).list().size(), 1U);
}

// ---- files that are none --------------------------------------------------------------------------------------------

TEST_F(StoreTest, EmptyFilesAreEmptyStores) {
    std::ofstream{file()};
    EXPECT_TRUE(io::Store(file(), Access::read).list().empty());
    EXPECT_EQ(io::Store(file(), Access::read).sample_count(1), 0U);
    EXPECT_THAT(refusal(Fault::usage,
                        [&] {
                            static_cast<void>(io::Store{file(), Access::read}.load(1));
                        }),
                HasSubstr("there is no campaign 1"));
    EXPECT_EQ(fs::file_size(file()), 0U); // who reads writes nothing
    EXPECT_EQ(io::Store(file(), Access::write).begin(two_points()), 1);
}

TEST_F(StoreTest, MissingFilesAreMadeByWritersAlone) {
    EXPECT_THAT(refusal_to_open(Access::read), HasSubstr("no such file"));
    EXPECT_FALSE(fs::exists(file()));
    io::Store const deep{folder_ / "a" / "b" / "c.sqlite", Access::write};
    EXPECT_TRUE(fs::exists(folder_ / "a" / "b" / "c.sqlite"));
}

TEST_F(StoreTest, OtherFilesAreRefusedAndStayAsTheyAre) {
    std::string const text = "step,seconds\n1,0.5\n" + std::string(4096, 'x');
    std::ofstream{file()} << text;
    for (Access const access : {Access::read, Access::write}) {
        EXPECT_THAT(refusal_to_open(access), HasSubstr("is no store of measurements (it is no SQLite database)"));
    }
    EXPECT_EQ(fs::file_size(file()), text.size());
    std::ofstream{file()} << "x";
    EXPECT_THAT(refusal_to_open(Access::write), HasSubstr("it is no SQLite database"));
    EXPECT_EQ(fs::file_size(file()), 1U);
    fs::remove(file());
    run_sql("CREATE TABLE bookmarks (url TEXT)");
    for (Access const access : {Access::read, Access::write}) {
        EXPECT_THAT(refusal_to_open(access), HasSubstr("it is a database of something else"));
    }
    fs::remove(file());
    fs::create_directory(file());
    EXPECT_THAT(refusal_to_open(Access::write), HasSubstr("is a folder"));
}

TEST_F(StoreTest, APipeIsNoPlainFile) {
    ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
    for (Access const access : {Access::read, Access::write}) {
        EXPECT_THAT(refusal_to_open(access), HasSubstr("is no plain file"));
    }
}

TEST_F(StoreTest, ANameNeverMeansMoreThanAFile) {
    auto const before = fs::current_path();
    fs::current_path(folder_);
    { io::Store{":memory:", Access::write}.begin(two_points()); }
    { io::Store{"file:x?mode=memory", Access::write}.begin(two_points()); }
    EXPECT_TRUE(fs::exists(folder_ / ":memory:"));
    EXPECT_TRUE(fs::exists(folder_ / "file:x?mode=memory"));
    fs::current_path(before);
}

// ---- hostile and damaged files --------------------------------------------------------------------------------------

class HostileStoreTest : public StoreTest {
protected:
    HostileStoreTest() {
        io::Store store{file(), Access::write};
        id_ = store.begin(two_points());
        for (std::uint32_t i = 0; i < 200; ++i) { store.add(id_, sample_of(i % 2, i / 2, 1.0 + i)); }
    }
    std::int64_t id_ = 0;
};

TEST_F(HostileStoreTest, TriggersIndicesAndViewsOverOurTablesAreRefused) {
    run_sql("CREATE TRIGGER gone AFTER INSERT ON samples BEGIN DELETE FROM samples; END");
    EXPECT_THAT(refusal_to_open(Access::write), HasSubstr("its table 'samples' has the trigger 'gone'"));
    run_sql("DROP TRIGGER gone; CREATE INDEX slow ON samples (abs(value))");
    EXPECT_THAT(refusal_to_open(Access::read), HasSubstr("has the index 'slow'"));
    run_sql("DROP INDEX slow; ALTER TABLE samples RENAME TO real_samples; CREATE VIEW samples AS SELECT * FROM "
            "real_samples");
    EXPECT_THAT(refusal_to_open(Access::read), HasSubstr("samples"));
}

TEST_F(HostileStoreTest, WhatElseLiesInTheFileIsNobodysBusiness) {
    run_sql("CREATE VIEW medians AS SELECT avg(value) FROM samples; CREATE TABLE notes (text); ANALYZE");
    EXPECT_EQ(io::Store(file(), Access::read).load(id_).samples.size(), 200U);
}

TEST_F(HostileStoreTest, ColumnsHaveToLieInTheTable) {
    run_sql("ALTER TABLE samples DROP COLUMN load");
    EXPECT_THAT(refusal_to_open(Access::read), HasSubstr("its table 'samples' has no column 'load'"));
    run_sql("ALTER TABLE samples ADD COLUMN load GENERATED ALWAYS AS (abs(-9223372036854775808)) VIRTUAL");
    EXPECT_THAT(refusal_to_open(Access::read), HasSubstr("its table 'samples' has no column 'load'"));
}

TEST_F(HostileStoreTest, ValuesOfAnotherKindAreRefusedAtTheirPlace) {
    run_sql("UPDATE samples SET value = x'00FF' WHERE place = 41");
    EXPECT_THAT(refusal_to_load(id_), HasSubstr("samples row 42: 'value': no number"));
    run_sql("UPDATE samples SET value = 9e999 WHERE place = 41");
    EXPECT_THAT(refusal_to_load(id_), HasSubstr("samples row 42: 'value': not finite"));
    run_sql("UPDATE samples SET value = NULL WHERE place = 41");
    EXPECT_THAT(refusal_to_load(id_), HasSubstr("samples row 42: 'value': no number"));
    run_sql("UPDATE samples SET value = 1.0, point = 2 WHERE place = 41");
    EXPECT_THAT(refusal_to_load(id_), HasSubstr("samples row 42: 'point': there is no such point"));
    run_sql("UPDATE samples SET point = -1 WHERE place = 41");
    EXPECT_THAT(refusal_to_load(id_), HasSubstr("'point': out of range"));
    run_sql("UPDATE samples SET point = 1, outcome = 'great' WHERE place = 41");
    EXPECT_THAT(refusal_to_load(id_), HasSubstr("no outcome of a sample"));
    run_sql("UPDATE samples SET outcome = 'measured', message = 7.5 WHERE place = 41; "
            "UPDATE samples SET began_ns = 'yesterday' WHERE place = 41");
    EXPECT_THAT(refusal_to_load(id_), HasSubstr("'began_ns': no whole number"));
    run_sql("UPDATE samples SET began_ns = 1; UPDATE points SET point = 7 WHERE point = 1");
    EXPECT_THAT(refusal_to_load(id_), HasSubstr("points row 2: 'point': not the next number"));
    run_sql("UPDATE campaigns SET state = 'lost'");
    EXPECT_THAT(refusal_to_load(id_), HasSubstr("campaigns row 1: 'state'"));
}

TEST_F(HostileStoreTest, HugeTextsAreRefused) {
    run_sql("UPDATE samples SET message = CAST(zeroblob(20000000) AS TEXT) WHERE place = 3");
    EXPECT_THAT(refusal_to_load(id_), HasSubstr("too long"));
}

TEST_F(HostileStoreTest, EveryTruncationIsOneLineOrTheTruth) {
    auto const bytes = fs::file_size(file());
    Campaign const whole = io::Store{file(), Access::read}.load(id_);
    fs::path const copy = folder_ / "whole.sqlite";
    fs::copy_file(file(), copy);
    for (std::uintmax_t size = 0; size < bytes; size += 1021) {
        fs::copy_file(copy, file(), fs::copy_options::overwrite_existing);
        fs::resize_file(file(), size);
        if (size == 0) { continue; }
        EXPECT_NE(refusal_to_load(id_), "not refused") << size;
    }
}

TEST_F(HostileStoreTest, DamagedBytesNeverCrash) {
    auto const bytes = fs::file_size(file());
    fs::path const copy = folder_ / "whole.sqlite";
    fs::copy_file(file(), copy);
    int refused = 0;
    for (std::uintmax_t at = 0; at + 8 < bytes; at += 211) {
        fs::copy_file(copy, file(), fs::copy_options::overwrite_existing);
        std::fstream stream{file(), std::ios::in | std::ios::out | std::ios::binary};
        stream.seekp(static_cast<std::streamoff>(at));
        stream.write("\xFF\x00\x7F\x80\x01\xFE\x55\xAA", 8);
        stream.close();
        try {
            io::Store store{file(), Access::write, 0};
            static_cast<void>(store.load(id_));
            store.add(id_, sample_of(0, 5000, 1.0));
        } catch (InputError const&) { ++refused; }
    }
    EXPECT_GT(refused, 10);
}

// ---- others, and limits ---------------------------------------------------------------------------------------------

TEST_F(HostileStoreTest, WhatIsNotFoundAgainIsDamage) {
    // Sound pages, and a schema that lets rows go without a word.
    run_sql("DROP TABLE points; CREATE TABLE points (campaign INTEGER NOT NULL, point INTEGER NOT NULL, label TEXT NOT "
            "NULL, unit TEXT NOT NULL, PRIMARY KEY (campaign, point), UNIQUE (unit) ON CONFLICT IGNORE) WITHOUT ROWID");
    EXPECT_THAT(refusal(Fault::unreadable,
                        [&] {
                            Campaign twice = two_points();
                            twice.points[1].unit = twice.points[0].unit;
                            io::Store{file(), Access::write, 0}.begin(twice);
                        }),
                HasSubstr("not found again"));
    run_sql("ALTER TABLE samples RENAME TO old; CREATE TABLE samples (campaign INTEGER, place INTEGER, point INTEGER, "
            "repetition INTEGER, value REAL, outcome TEXT, message TEXT, began_ns INTEGER, load REAL NOT NULL ON "
            "CONFLICT IGNORE, PRIMARY KEY (campaign, place)) WITHOUT ROWID");
    EXPECT_THAT(refusal(Fault::unreadable,
                        [&] {
                            io::Store store{file(), Access::write, 0};
                            store.add(store.begin(two_points()), failed_sample(0, 0, "no load"));
                        }),
                HasSubstr("not found again"));
}

/// Rows in such pages are lost on the way back, or take others with them.
TEST_F(HostileStoreTest, PagesOutOfOrderAreNotWritten) {
    for (auto const& [name, problem] : {std::pair{"points_lost.sqlite", "On tree page 7 cell 1"},
                                        std::pair{"pages_out_of_order.sqlite", "on page 17"}}) {
        fs::path const damaged = fs::path{HEADROOM_SOURCE_DIR} / "tests/fuzz/corpus/store" / name;
        fs::copy_file(damaged, file(), fs::copy_options::overwrite_existing);
        fs::permissions(file(), fs::perms::owner_write, fs::perm_options::add);
        EXPECT_THAT(refusal_to_open(Access::write), AllOf(HasSubstr("is damaged ("), HasSubstr(problem)));
        EXPECT_EQ(bytes_in(file()), bytes_in(damaged));
    }
}

TEST_F(HostileStoreTest, ALockedFileIsWaitedForAndNoLonger) {
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &other), SQLITE_OK);
    io::Store store{file(), Access::write, 1};
    ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
    auto const began = std::chrono::steady_clock::now();
    EXPECT_THAT(refusal(Fault::unreadable, [&] { store.add(id_, sample_of(0, 900, 1.0)); }),
                HasSubstr("is locked by another program (for more than 1 s)"));
    EXPECT_THAT(refusal(Fault::unreadable, [&] { static_cast<void>(store.load(id_)); }), HasSubstr("is locked"));
    auto const waited = std::chrono::steady_clock::now() - began;
    EXPECT_GE(waited, std::chrono::seconds{2});
    EXPECT_LT(waited, std::chrono::minutes{2}) << "the limit was taken for another";
    sqlite3_close(other);
    EXPECT_TRUE(store.add(id_, sample_of(0, 900, 1.0)));
    EXPECT_EQ(store.sample_count(id_), 201U);
}

TEST_F(HostileStoreTest, WithoutSpaceNothingIsLost) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
    io::Store store{file(), Access::write};
    std::string line;
    {
        rlimit const tight{fs::file_size(file()) + 8192, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &tight);
        line = refusal(Fault::unreadable, [&] {
            for (std::uint32_t i = 0; i < 2000; ++i) {
                store.add(id_, failed_sample(0, 1000 + i, std::string(3000, 'x')));
            }
        });
        setrlimit(RLIMIT_FSIZE, &before);
    }
    std::signal(SIGXFSZ, handler);
    EXPECT_THAT(line, HasSubstr("has no space left"));
    std::size_t const kept = store.sample_count(id_);
    EXPECT_GE(kept, 200U);
    EXPECT_TRUE(store.add(id_, sample_of(1, 9000, 1.0))); // with room again it goes on
    EXPECT_EQ(io::Store(file(), Access::read).load(id_).samples.size(), kept + 1);
}

TEST_F(HostileStoreTest, AStoreOfAnotherJournalIsTakenAsItIs) {
    run_sql("PRAGMA journal_mode = WAL");
    io::Store store{file(), Access::write};
    EXPECT_TRUE(store.add(id_, sample_of(0, 900, 1.0)));
    EXPECT_EQ(store.load(id_).samples.size(), 201U);
}

TEST(StorePath, FollowsTheEnvironment) {
    auto const with = [](char const* data, char const* home) {
        data == nullptr ? unsetenv("XDG_DATA_HOME") : setenv("XDG_DATA_HOME", data, 1);
        home == nullptr ? unsetenv("HOME") : setenv("HOME", home, 1);
        return io::Store::default_path().string();
    };
    auto const kept = [](char const* name) {
        char const* const value = std::getenv(name);
        return value == nullptr ? std::optional<std::string>{} : std::optional<std::string>{value};
    };
    auto const data = kept("XDG_DATA_HOME"), home = kept("HOME");
    EXPECT_EQ(with("/data", "/home/me"), "/data/headroom/measurements.sqlite");
    EXPECT_EQ(with(nullptr, "/home/me"), "/home/me/.local/share/headroom/measurements.sqlite");
    EXPECT_EQ(with("relative", "/home/me"), "/home/me/.local/share/headroom/measurements.sqlite");
    EXPECT_THROW(with(nullptr, nullptr), InputError);
    data ? setenv("XDG_DATA_HOME", data->c_str(), 1) : unsetenv("XDG_DATA_HOME");
    home ? setenv("HOME", home->c_str(), 1) : unsetenv("HOME");
}

} // namespace
} // namespace headroom
