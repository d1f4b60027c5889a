#include "traces/sqlite_file.hpp"

#include "records/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headroom::io {

namespace {

constexpr std::size_t most_tables = 4096;

/// Reading columns of tables and their names is all that is ever asked.
int only_reads(void*, int action, char const* what, char const*, char const*, char const*) {
    bool const columns = action == SQLITE_PRAGMA && what != nullptr && std::string_view{what} == "table_xinfo";
    return action == SQLITE_SELECT || action == SQLITE_READ || columns ? SQLITE_OK : SQLITE_DENY;
}

std::string quoted_name(std::string_view name) {
    std::string text = "\"";
    for (char const c : name) { text.append(c == '"' ? 2 : 1, c); }
    return text + '"';
}

using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

Statement prepared(sqlite3* database, std::string const& sql) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database, sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
    return Statement{statement};
}

} // namespace

std::string SqliteFile::lower(std::string_view text) {
    std::string lower{text};
    std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return lower;
}

SqliteFile::SqliteFile(ByteSource& source, std::string where, std::uint64_t most_bytes, std::stop_token stop)
    : where_{std::move(where)}, stop_{std::move(stop)} {
    open(source, most_bytes);
    check_length(source.plain_file());
    distrust(database_.get());
    allow_only_reads();
    read_schema();
}

SqliteFile::~SqliteFile() = default;

void SqliteFile::fail(std::string problem) const {
    unreadable_error(where_, std::move(problem),
                     database_ ? std::string{sqlite3_errmsg(database_.get())} : std::string{}, "export it again");
}

/// Immutable: no lock, no journal and nothing written, whatever the header asks for.
void SqliteFile::open(ByteSource& source, std::uint64_t most_bytes) {
    sqlite3* database = nullptr;
    int const descriptor = source.plain_file();
    if (descriptor < 0) { hold(source, most_bytes); }
    std::string const name =
        descriptor < 0 ? std::string{":memory:"} : fmt::format("file:/proc/self/fd/{}?immutable=1", descriptor);
    int const state =
        sqlite3_open_v2(name.c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr);
    database_.reset(database);
    if (state != SQLITE_OK) { fail("a database that cannot be opened"); }
    if (descriptor >= 0) {
        struct stat about = {};
        bytes_ = fstat(descriptor, &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
        return;
    }
    auto* const bytes = reinterpret_cast<unsigned char*>(held_.data());
    auto const size = static_cast<sqlite3_int64>(held_.size());
    if (sqlite3_deserialize(database, "main", bytes, size, size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
        fail("a database that cannot be opened");
    }
    bytes_ = held_.size();
}

void SqliteFile::hold(ByteSource& source, std::uint64_t most_bytes) {
    constexpr std::size_t block = std::size_t{1} << 20;
    held_ = source.in_memory().substr(0, std::min<std::uint64_t>(source.in_memory().size(), most_bytes));
    for (std::size_t got = held_.empty() ? block : 0; got == block && held_.size() < most_bytes;) {
        std::size_t const before = held_.size();
        held_.resize(before + block);
        got = source.read(held_.data() + before, block);
        held_.resize(before + got);
    }
    constexpr std::size_t write_version = 18, read_version = 19; // 2: a log beside the file, which memory has not
    if (held_.size() > read_version && held_[read_version] == 2) { held_[write_version] = held_[read_version] = 1; }
}

/// The header says how many pages there are, where whoever wrote it last knew.
void SqliteFile::check_length(int descriptor) {
    std::array<unsigned char, 100> header{};
    if (descriptor >= 0) {
        if (pread(descriptor, header.data(), header.size(), 0) < static_cast<ssize_t>(header.size())) { return; }
    } else {
        std::copy_n(held_.begin(), std::min(held_.size(), header.size()), header.begin());
    }
    auto const number = [&](std::size_t at, std::size_t bytes) {
        return std::accumulate(header.begin() + at, header.begin() + at + bytes, std::uint64_t{0},
                               [](std::uint64_t sum, unsigned char byte) { return sum << 8 | byte; });
    };
    std::uint64_t const page = number(16, 2) == 1 ? 65'536 : number(16, 2);
    bool const counted = number(24, 4) == number(92, 4);
    if (counted && number(28, 4) * page > bytes_) { issue("cut short", fmt::format("{}: byte {}", where_, bytes_)); }
}

void SqliteFile::allow_only_reads() {
    // Nothing can be written; but with this SQLite reads a file that is shorter than it says, as far as it goes.
    sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
    sqlite3_set_authorizer(database_.get(), only_reads, nullptr);
}

void SqliteFile::read_schema() {
    Statement const rows = prepared(database_.get(), "SELECT name, sql FROM sqlite_master WHERE type = 'table'");
    if (!rows) { fail("a damaged database"); }
    std::vector<std::string> names;
    int state = SQLITE_ROW;
    while ((state = sqlite3_step(rows.get())) == SQLITE_ROW && names.size() < most_tables) {
        std::string const sql = lower(column_text(rows.get(), 1).substr(0, 64));
        auto const word = sql.find_first_not_of(" \t\r\n", sql.find("create") == 0 ? 6 : 0);
        bool const stored = word != std::string::npos && sql.compare(word, 5, "table") == 0;
        if (stored) { names.emplace_back(column_text(rows.get(), 0)); }
    }
    if (state != SQLITE_ROW && state != SQLITE_DONE) { fail("a damaged database"); }
    for (auto const& name : names) { read_columns(name); }
}

/// Columns that are computed are left out: an expression of the file would run.
void SqliteFile::read_columns(std::string const& table) {
    Statement const rows = prepared(database_.get(), fmt::format("PRAGMA table_xinfo({})", quoted_name(table)));
    if (!rows) { return; }
    std::vector<Column> columns;
    int keys = 0;
    while (sqlite3_step(rows.get()) == SQLITE_ROW) { // number, name, type, not null, default, key, hidden
        if (sqlite3_column_int(rows.get(), 6) != 0) { continue; }
        bool const key = sqlite3_column_int(rows.get(), 5) == 1 && lower(column_text(rows.get(), 2)) == "integer";
        keys += sqlite3_column_int(rows.get(), 5) != 0 ? 1 : 0;
        columns.push_back({lower(column_text(rows.get(), 1)), key});
    }
    if (keys > 1) {
        for (auto& column : columns) { column.key = false; }
    }
    if (!columns.empty()) { tables_.emplace(lower(table), std::move(columns)); }
}

bool SqliteFile::has_column(std::string_view table, std::string_view column) const {
    auto const found = tables_.find(lower(table));
    return found != tables_.end() &&
           std::ranges::find(found->second, lower(column), &Column::name) != found->second.end();
}

bool SqliteFile::is_key(std::string_view table, std::string_view column) const {
    auto const found = tables_.find(lower(table));
    if (found == tables_.end()) { return false; }
    auto const at = std::ranges::find(found->second, lower(column), &Column::name);
    return at != found->second.end() && at->key;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

SqliteRows::SqliteRows(SqliteFile& file, std::string_view table, std::span<std::string_view const> columns)
    : file_{&file}, table_{table} {
    prepare(columns, {});
}

SqliteRows::SqliteRows(SqliteFile& file, std::string_view table, std::span<std::string_view const> columns,
                       std::string_view key)
    : file_{&file}, table_{table} {
    lookup_ = true;
    prepare(columns, key);
}

SqliteRows::~SqliteRows() { sqlite3_finalize(statement_); }

/// No index: one of a damaged file may disagree with its table.
void SqliteRows::prepare(std::span<std::string_view const> columns, std::string_view key) {
    if (!file_->has_table(table_)) { return; }
    std::string list;
    for (auto const column : columns) {
        list += list.empty() ? "" : ", ";
        list += file_->has_column(table_, column) ? quoted_name(column) : "NULL";
    }
    std::string sql = fmt::format("SELECT {} FROM {} NOT INDEXED", list, quoted_name(table_));
    if (!key.empty()) { sql += fmt::format(" WHERE {} = ?1", quoted_name(key)); }
    statement_ = prepared(file_->database_.get(), sql).release();
    if (statement_ == nullptr) { file_->issue("damaged table", fmt::format("{}: {}", file_->where(), table_)); }
    budget_.emplace(file_->database_.get(), file_->bytes());
}

std::string SqliteRows::place() const { return fmt::format("{}: {} row {}", file_->where(), table_, row_); }

bool SqliteRows::within_budget() { return budget_->allows(row_, lookup_); }

bool SqliteRows::next() {
    if (statement_ == nullptr) { return false; }
    int const state = file_->stopped() ? SQLITE_DONE : sqlite3_step(statement_);
    if (state == SQLITE_ROW) {
        ++row_;
        if (within_budget()) { return true; }
        file_->issue("damaged table", place() + ": it repeats itself");
    } else if (state != SQLITE_DONE) {
        ++row_;
        file_->issue("damaged table", fmt::format("{}: {}", place(), sqlite3_errmsg(file_->database_.get())));
    }
    sqlite3_finalize(statement_);
    statement_ = nullptr;
    return false;
}

bool SqliteRows::find(std::int64_t key) {
    if (statement_ == nullptr) { return false; }
    sqlite3_reset(statement_);
    sqlite3_bind_int64(statement_, 1, key);
    if (sqlite3_step(statement_) != SQLITE_ROW) { return false; }
    ++row_;
    if (within_budget()) { return true; }
    file_->issue("damaged table", place() + ": it repeats itself");
    sqlite3_finalize(statement_);
    statement_ = nullptr;
    return false;
}

std::optional<std::int64_t> SqliteRows::whole(std::size_t column) {
    int const index = static_cast<int>(column);
    switch (sqlite3_column_type(statement_, index)) {
    case SQLITE_INTEGER: return sqlite3_column_int64(statement_, index);
    case SQLITE_NULL: return std::nullopt;
    case SQLITE_FLOAT: {
        double const value = sqlite3_column_double(statement_, index);
        if (std::abs(value) < 0x1p53 && std::floor(value) == value) { return static_cast<std::int64_t>(value); }
        break;
    }
    case SQLITE_TEXT: {
        auto const text = column_text(statement_, index);
        std::int64_t value = 0;
        auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc{} && stop == text.data() + text.size()) { return value; }
        break;
    }
    default: break;
    }
    file_->issue("not a whole number", place());
    return std::nullopt;
}

std::string_view SqliteRows::text(std::size_t column) {
    auto const text = column_text(statement_, static_cast<int>(column));
    budget_->add_text(text.size());
    return text;
}

} // namespace headroom::io
