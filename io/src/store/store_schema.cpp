#include "store/store_schema.hpp"

#include "records/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace headroom::io {

namespace {

/// "HDRM": by this number other programs (`file`) tell a store from other databases.
constexpr std::int64_t application_id = 0x4844524D;

/// Migrations. Each brings a file from the version before to its own; the first creates its tables. A step that was
/// released is never changed: files that it made are out there.
constexpr std::array steps{
    R"sql(
CREATE TABLE campaigns (
    id       INTEGER PRIMARY KEY AUTOINCREMENT, -- a number that was removed is not given again
    kind     TEXT    NOT NULL,                  -- roofline, comm, scaling
    name     TEXT    NOT NULL,                  -- as the user calls it, or empty
    state    TEXT    NOT NULL,                  -- running, done, interrupted
    began_ns INTEGER NOT NULL,                  -- nanoseconds since 1970
    ended_ns INTEGER                            -- NULL while it runs
);
CREATE TABLE campaign_facts (
    campaign INTEGER NOT NULL,
    subject  TEXT    NOT NULL,                  -- setting: what was asked; machine: what it ran on
    place    INTEGER NOT NULL,                  -- order, from 0
    name     TEXT    NOT NULL,
    value    TEXT    NOT NULL,
    PRIMARY KEY (campaign, subject, place)
) WITHOUT ROWID;
CREATE TABLE points (
    campaign INTEGER NOT NULL,
    point    INTEGER NOT NULL,                  -- from 0
    label    TEXT    NOT NULL,
    unit     TEXT    NOT NULL,                  -- seconds, bytes/second, flops/second
    PRIMARY KEY (campaign, point),
    UNIQUE (campaign, label)
) WITHOUT ROWID;
CREATE TABLE point_parameters (
    campaign INTEGER NOT NULL,
    point    INTEGER NOT NULL,
    place    INTEGER NOT NULL,                  -- order, from 0
    name     TEXT    NOT NULL,
    value    TEXT    NOT NULL,
    PRIMARY KEY (campaign, point, place)
) WITHOUT ROWID;
CREATE TABLE samples (
    campaign   INTEGER NOT NULL,
    place      INTEGER NOT NULL,                -- order in which they were taken, from 0
    point      INTEGER NOT NULL,
    repetition INTEGER NOT NULL,                -- of its point, from 0
    value      REAL,                            -- in the unit of its point; NULL where there is none
    outcome    TEXT    NOT NULL,                -- measured, warm-up, failed, timed-out, unreadable
    message    TEXT    NOT NULL,                -- why there is no value
    began_ns   INTEGER NOT NULL,                -- nanoseconds since 1970
    PRIMARY KEY (campaign, place),
    UNIQUE (campaign, point, repetition)
) WITHOUT ROWID;
)sql",
    // load average of a minute when the sample began; NULL: not known, as of all samples from before
    "ALTER TABLE samples ADD COLUMN load REAL;",
};

/// A column that is read, and the version that brought it.
struct RequiredColumn {
    std::string_view table, column;
    int since = 1;
};

constexpr std::array required{
    RequiredColumn{"campaigns", "id"},
    RequiredColumn{"campaigns", "kind"},
    RequiredColumn{"campaigns", "name"},
    RequiredColumn{"campaigns", "state"},
    RequiredColumn{"campaigns", "began_ns"},
    RequiredColumn{"campaigns", "ended_ns"},
    RequiredColumn{"campaign_facts", "campaign"},
    RequiredColumn{"campaign_facts", "subject"},
    RequiredColumn{"campaign_facts", "place"},
    RequiredColumn{"campaign_facts", "name"},
    RequiredColumn{"campaign_facts", "value"},
    RequiredColumn{"points", "campaign"},
    RequiredColumn{"points", "point"},
    RequiredColumn{"points", "label"},
    RequiredColumn{"points", "unit"},
    RequiredColumn{"point_parameters", "campaign"},
    RequiredColumn{"point_parameters", "point"},
    RequiredColumn{"point_parameters", "place"},
    RequiredColumn{"point_parameters", "name"},
    RequiredColumn{"point_parameters", "value"},
    RequiredColumn{"samples", "campaign"},
    RequiredColumn{"samples", "place"},
    RequiredColumn{"samples", "point"},
    RequiredColumn{"samples", "repetition"},
    RequiredColumn{"samples", "value"},
    RequiredColumn{"samples", "outcome"},
    RequiredColumn{"samples", "message"},
    RequiredColumn{"samples", "began_ns"},
    RequiredColumn{"samples", "load", 2},
};

std::int64_t number_of(StoreDatabase const& database, char const* pragma) {
    StoreStatement statement{database, pragma};
    return statement.next() ? statement.whole(0) : 0;
}

[[noreturn]] void foreign(StoreDatabase const& database, std::string why) {
    unreadable_error(database.where(), "is no store of measurements", std::move(why), "give --store another file");
}

/// Our tables in the file's schema; other contents of the file are ignored.
struct FoundTable {
    std::string name, sql;
};

std::vector<FoundTable> objects(StoreDatabase const& database) {
    StoreStatement rows{database, "SELECT type, name, tbl_name, sql FROM sqlite_master"};
    std::vector<FoundTable> tables;
    while (rows.next()) {
        std::string const type = rows.text(0), name = rows.text(1), of = rows.text(2);
        bool const ours = std::ranges::find(required, of, &RequiredColumn::table) != required.end();
        bool const made_by_sqlite = type == "index" && name.starts_with("sqlite_autoindex_");
        if (ours && type != "table" && !made_by_sqlite) {
            foreign(database, fmt::format("its table '{}' has the {} '{}'", of, type, name));
        }
        tables.push_back({type == "table" ? name : std::string{}, rows.is_nothing(3) ? std::string{} : rows.text(3)});
    }
    return tables;
}

/// Columns that lie in the table; computed ones would run what the file says.
std::vector<std::string> columns_of(StoreDatabase const& database, std::string_view table) {
    StoreStatement rows{database, fmt::format("PRAGMA table_xinfo({})", table)};
    std::vector<std::string> columns;
    while (rows.next()) { // number, name, type, not null, default, key, hidden
        if (rows.whole(6) == 0) { columns.push_back(rows.text(1)); }
    }
    return columns;
}

void check_columns(StoreDatabase const& database, std::span<FoundTable const> tables, int version) {
    std::string_view known;
    std::vector<std::string> columns;
    for (RequiredColumn const& row : required) {
        if (row.since > version) { continue; }
        if (row.table != known) {
            auto const found = std::ranges::find(tables, row.table, &FoundTable::name);
            if (found == tables.end() || !found->sql.starts_with("CREATE TABLE ")) {
                foreign(database, fmt::format("it has no table '{}'", row.table));
            }
            columns = columns_of(database, row.table);
            known = row.table;
        }
        if (std::ranges::find(columns, row.column) == columns.end()) {
            foreign(database, fmt::format("its table '{}' has no column '{}'", row.table, row.column));
        }
    }
}

} // namespace

int store_version() { return static_cast<int>(steps.size()); }

int check_schema(StoreDatabase const& database) {
    std::int64_t const id = number_of(database, "PRAGMA application_id");
    std::int64_t const version = number_of(database, "PRAGMA user_version");
    if (id != application_id) {
        if (id == 0 && version == 0 && objects(database).empty()) { return 0; }
        foreign(database, "it is a database of something else");
    }
    if (version > store_version()) {
        unreadable_error(database.where(), "belongs to a newer version of headroom",
                         fmt::format("its layout is {}, and this program knows up to {}", version, store_version()),
                         "use the newer program, or give --store another file");
    }
    if (version < 1) { foreign(database, fmt::format("there is no layout {}", version)); }
    check_columns(database, objects(database), static_cast<int>(version));
    return static_cast<int>(version);
}

void migrate(StoreDatabase const& database, int version) {
    for (auto at = static_cast<std::size_t>(version); at < steps.size(); ++at) { database.execute(steps[at]); }
    database.execute(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id, steps.size()).c_str());
}

} // namespace headroom::io
