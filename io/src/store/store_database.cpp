#include "store/store_database.hpp"

#include "records/record.hpp"
#include "sqlite/untrusted.hpp"
#include "store/store_schema.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <sqlite3.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace headroom::io {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t least_file = 4096; ///< bytes of room for rows: what is asked of an empty file has answers too

constexpr std::uint64_t least_page = 512; ///< bytes, of any database

std::string reason(int error) { return std::error_code{error, std::generic_category()}.message(); }

bool is_no_space(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }
bool is_not_permitted(int error) { return error == EACCES || error == EPERM || error == EROFS; }

/// Once the tables are known to be ours: rows are read and written, and nothing else happens.
int only_rows(void*, int action, char const* table, char const*, char const*, char const*) {
    bool const ours = table == nullptr || !std::string_view{table}.starts_with("sqlite_");
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_TRANSACTION: return SQLITE_OK;
    case SQLITE_READ:
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE: return ours ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

} // namespace

StoreDatabase::StoreDatabase(fs::path path, Store::Access access, int patience_seconds)
    : path_{std::move(path)}, patience_{patience_seconds} {
    check_place(access);
    open(access);
    set_up(access);
    {
        StoreTransaction const snapshot{*this, StoreTransaction::Kind::reads};
        version_ = check_schema(*this);
    }
    if (access == Store::Access::write) {
        check_pages();
        if (version_ < store_version()) { bring_up_to_date(); }
    }
    if (access == Store::Access::read) { execute("PRAGMA query_only = ON"); }
    sqlite3_set_authorizer(handle(), only_rows, nullptr);
}

StoreDatabase::~StoreDatabase() = default;

/// Refuses places on which SQLite would wait without an end (a pipe), or fail with a message that helps nobody.
void StoreDatabase::check_place(Store::Access access) const {
    if (path_.empty()) { refuse("--store", "a name is missing", "", "give the file to keep measurements in"); }
    std::error_code problem;
    fs::file_status const status = fs::status(path_, problem);
    if (status.type() == fs::file_type::none) { unreadable_error(where(), "cannot be opened", problem.message()); }
    if (fs::is_directory(status)) { unreadable_error(where(), "is a folder", "", "give --store the name of a file"); }
    if (fs::exists(status)) {
        if (!fs::is_regular_file(status)) { unreadable_error(where(), "is no plain file"); }
        // of less than the smallest page SQLite makes an empty database, and writes over it
        if (auto const size = bytes(); size > 0 && size < least_page) { fail(SQLITE_NOTADB); }
        return;
    }
    if (access == Store::Access::read) { unreadable_error(where(), "no such file"); }
    fs::path const folder = fs::absolute(path_).parent_path();
    fs::create_directories(folder, problem);
    if (problem) {
        unreadable_error(where(), fmt::format("its folder '{}' cannot be made", folder.string()), problem.message(),
                         "give --store another file");
    }
    if (::access(folder.c_str(), W_OK | X_OK) != 0) {
        unreadable_error(where(), "may not be written", fmt::format("its folder: {}", reason(errno)),
                         "give --store another file");
    }
}

/// Also who only reads has to be able to undo what a power cut left half written. A name is absolute, so that none
/// means more to SQLite than a file (":memory:").
void StoreDatabase::open(Store::Access access) {
    bool const writes = access == Store::Access::write;
    // commands and hosts are nobody else's business; the journal has the mode of its database
    if (int const made = writes ? ::open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) : -1;
        made >= 0) {
        ::close(made);
    }
    sqlite3* handle = nullptr;
    int const flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int const state =
        sqlite3_open_v2(fs::absolute(path_).c_str(), &handle, flags | (writes ? SQLITE_OPEN_CREATE : 0), nullptr);
    handle_.reset(handle);
    if (state != SQLITE_OK) { fail(state); }
    if (writes && sqlite3_db_readonly(handle, "main") == 1) { fail(SQLITE_READONLY); }
    sqlite3_busy_handler(handle, wait_for_others, this);
}

/// The journal stays and is overwritten, and each commit waits for the disk: see
/// docs/adr/0024-measurements-in-one-sqlite-file.md.
void StoreDatabase::set_up(Store::Access access) {
    distrust(handle());
    sqlite3_db_config(handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    if (access == Store::Access::write) { execute("PRAGMA synchronous = FULL; PRAGMA journal_mode = PERSIST"); }
}

/// Pages out of order lose what is written into them, or their neighbours: such a file may be read, and not written.
void StoreDatabase::check_pages() const {
    StoreStatement report{*this, "PRAGMA integrity_check(1)"};
    if (!report.next()) { return; }
    std::string const found = report.text(0), last = found.substr(found.rfind('\n') + 1);
    if (last != "ok") { refuse_damage(last); }
}

/// Whoever comes second finds the work done.
void StoreDatabase::bring_up_to_date() {
    StoreTransaction transaction{*this, StoreTransaction::Kind::writes};
    int const found = check_schema(*this);
    if (found < store_version()) { migrate(*this, found); }
    transaction.commit();
    version_ = store_version();
}

/// Asked again and again while another process holds the file. Short naps: whoever sleeps long comes last every time.
int StoreDatabase::wait_for_others(void* self, int attempts) {
    auto& database = *static_cast<StoreDatabase*>(self);
    auto const now = std::chrono::steady_clock::now();
    if (attempts == 0) { database.waits_since_ = now; }
    if (now - database.waits_since_ >= database.patience_) { return 0; }
    std::this_thread::sleep_for(std::chrono::milliseconds{1 + attempts % 2});
    return 1;
}

std::uint64_t StoreDatabase::bytes() const {
    std::error_code ignored;
    std::uintmax_t const size = fs::file_size(path_, ignored);
    return ignored ? 0 : size;
}

void StoreDatabase::execute(char const* sql) const {
    errno = 0;
    if (int const state = sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr); state != SQLITE_OK) { fail(state); }
}

void StoreDatabase::fail(int code) const {
    int const last = errno; // SQLite forgets its own where a commit fails and is undone
    int const own = handle_ ? sqlite3_system_errno(handle()) : 0;
    int const error = own != 0 ? own : last;
    std::string const why = handle_ ? sqlite3_errmsg(handle()) : sqlite3_errstr(code);
    constexpr char const* elsewhere = "give --store another file";
    int const kind = code & 0xFF;
    if (kind == SQLITE_NOMEM) { // mostly a damaged file that says how large something is
        unreadable_error(where(), "asks for more memory than there is", "it may be damaged", elsewhere);
    }
    if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED) {
        unreadable_error(where(), "is locked by another program", fmt::format("for more than {} s", patience_.count()),
                         "try again when that one has ended");
    }
    if (kind == SQLITE_NOTADB) {
        unreadable_error(where(), "is no store of measurements", "it is no SQLite database", elsewhere);
    }
    if (kind == SQLITE_FULL || (kind == SQLITE_IOERR && is_no_space(error))) {
        unreadable_error(where(), "has no space left", reason(error != 0 ? error : ENOSPC),
                         "make room; what was stored before is kept");
    }
    if (kind == SQLITE_READONLY || kind == SQLITE_PERM || (kind == SQLITE_CANTOPEN && is_not_permitted(error))) {
        bool const half_written = code == SQLITE_READONLY_ROLLBACK;
        unreadable_error(where(), "may not be written",
                         half_written              ? "a write that was cut short has to be undone"
                         : kind == SQLITE_CANTOPEN ? reason(error)
                                                   : "",
                         elsewhere);
    }
    if (kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR) {
        unreadable_error(where(), kind == SQLITE_IOERR ? "cannot be read or written" : "cannot be opened",
                         error != 0 ? reason(error) : why, elsewhere);
    }
    if (kind == SQLITE_TOOBIG) {
        unreadable_error(where(), "holds a text that is too long",
                         fmt::format("at most {} MiB are read", most_value_bytes >> 20));
    }
    refuse_damage(why);
}

void StoreDatabase::refuse_damage(std::string const& why) const {
    unreadable_error(where(), "is damaged", why, "keep it: '.recover' of the program sqlite3 may save what it holds");
}

// ---- statements -----------------------------------------------------------------------------------------------------

StoreStatement::StoreStatement(StoreDatabase const& database, std::string_view sql)
    : database_{&database}, budget_{database.handle(), database.bytes() + least_file} {
    sqlite3_stmt* statement = nullptr;
    int const state =
        sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
    statement_.reset(statement);
    if (state != SQLITE_OK) { database.fail(state); }
}

StoreStatement& StoreStatement::with(std::int64_t value) {
    sqlite3_bind_int64(statement_.get(), ++bound_, value);
    return *this;
}

StoreStatement& StoreStatement::with(double value) {
    sqlite3_bind_double(statement_.get(), ++bound_, value);
    return *this;
}

StoreStatement& StoreStatement::with(std::string_view value) {
    int const state = sqlite3_bind_text64(statement_.get(), ++bound_, value.empty() ? "" : value.data(), value.size(),
                                          SQLITE_TRANSIENT, SQLITE_UTF8);
    if (state != SQLITE_OK) { database_->fail(state); }
    return *this;
}

StoreStatement& StoreStatement::with_nothing() {
    ++bound_; // what is not bound is NULL
    return *this;
}

bool StoreStatement::next() {
    errno = 0;
    int const state = sqlite3_step(statement_.get());
    if (state == SQLITE_DONE) { return false; }
    if (state != SQLITE_ROW) { database_->fail(state); }
    ++row_;
    if (!budget_.allows(row_)) { fail(0, "the table repeats itself"); }
    return true;
}

void StoreStatement::run() {
    while (next()) {}
}

void StoreStatement::fail(int column, std::string_view problem) const {
    std::string_view const sql = sqlite3_sql(statement_.get()), from = " FROM ";
    std::string_view table = sql.find(from) == std::string_view::npos ? sql : sql.substr(sql.find(from) + from.size());
    table = table.substr(0, table.find(' '));
    char const* const name = sqlite3_column_name(statement_.get(), column);
    unreadable_error(fmt::format("{}: {} row {}", database_->where(), table, row_),
                     fmt::format("'{}': {}", name == nullptr ? "?" : name, problem), "the file is damaged");
}

std::int64_t StoreStatement::whole(int column) const {
    if (sqlite3_column_type(statement_.get(), column) != SQLITE_INTEGER) { fail(column, "no whole number"); }
    return sqlite3_column_int64(statement_.get(), column);
}

std::uint32_t StoreStatement::index(int column) const {
    std::int64_t const value = whole(column);
    if (value < 0 || value > std::int64_t{UINT32_MAX}) { fail(column, "out of range"); }
    return static_cast<std::uint32_t>(value);
}

double StoreStatement::number(int column) const {
    int const type = sqlite3_column_type(statement_.get(), column);
    if (type != SQLITE_FLOAT && type != SQLITE_INTEGER) { fail(column, "no number"); }
    return sqlite3_column_double(statement_.get(), column);
}

std::optional<double> StoreStatement::number_or_nothing(int column) const {
    return is_nothing(column) ? std::nullopt : std::optional{number(column)};
}

bool StoreStatement::is_nothing(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::string StoreStatement::text(int column) {
    if (sqlite3_column_type(statement_.get(), column) != SQLITE_TEXT) { fail(column, "no text"); }
    std::string_view const text = column_text(statement_.get(), column);
    budget_.add_text(text.size());
    if (!budget_.allows(row_)) { fail(column, "the table repeats itself"); }
    return std::string{text};
}

// ---- transactions ---------------------------------------------------------------------------------------------------

StoreTransaction::StoreTransaction(StoreDatabase const& database, Kind kind) : database_{&database} {
    database.execute(kind == Kind::writes ? "BEGIN IMMEDIATE" : "BEGIN");
}

StoreTransaction::~StoreTransaction() {
    if (database_ != nullptr && sqlite3_get_autocommit(database_->handle()) == 0) {
        sqlite3_exec(database_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
}

void StoreTransaction::commit() {
    database_->execute("COMMIT");
    database_ = nullptr;
}

} // namespace headroom::io
