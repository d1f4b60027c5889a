#pragma once

#include "sqlite/untrusted.hpp"

#include "headroom/io/store.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::io {

/// The file of a store that is open: its schema compared with what it must be; where it is to be written, its pages and
/// indices checked, and an older one brought to the present version. Nothing of a foreign schema runs: no view, trigger, function, virtual table.
class StoreDatabase {
public:
    StoreDatabase(std::filesystem::path path, Store::Access access, int patience_seconds);
    ~StoreDatabase();
    StoreDatabase(StoreDatabase const&) = delete;
    StoreDatabase& operator=(StoreDatabase const&) = delete;

    [[nodiscard]] std::filesystem::path const& path() const { return path_; }
    [[nodiscard]] std::string where() const { return path_.string(); }
    /// 0: nothing is in it yet, not even tables.
    [[nodiscard]] int version() const { return version_; }
    [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
    /// Size of the file now, bytes: no table has more rows than it has room for.
    [[nodiscard]] std::uint64_t bytes() const;
    /// Throws the error of SQLite's last call as one line. Errors: always InputError{unreadable}.
    [[noreturn]] void fail(int code) const;
    [[noreturn]] void refuse_damage(std::string const& why) const;
    void execute(char const* sql) const;

private:
    void check_place(Store::Access access) const;
    void open(Store::Access access);
    void set_up(Store::Access access);
    void check_pages() const;
    void bring_up_to_date();
    static int wait_for_others(void* self, int attempts);

    std::filesystem::path path_;
    std::chrono::seconds patience_;
    std::chrono::steady_clock::time_point waits_since_;
    int version_ = 0;
    std::unique_ptr<sqlite3, CloseDatabase> handle_;
};

/// One statement and its rows. Values are read as what they must be.
/// Errors: InputError{unreadable} at the place of a value of another kind, and where a table repeats itself.
class StoreStatement {
public:
    StoreStatement(StoreDatabase const& database, std::string_view sql);
    ~StoreStatement() = default;
    StoreStatement(StoreStatement const&) = delete;
    StoreStatement& operator=(StoreStatement const&) = delete;

    StoreStatement& with(std::int64_t value);
    StoreStatement& with(double value);
    StoreStatement& with(std::string_view value);
    StoreStatement& with_nothing();
    /// Steps to the next row; false at the end.
    bool next();
    /// For statements without rows.
    void run();

    [[nodiscard]] std::int64_t whole(int column) const;
    /// A whole number from 0 to 2^32 - 1.
    [[nodiscard]] std::uint32_t index(int column) const;
    [[nodiscard]] double number(int column) const;
    [[nodiscard]] std::optional<double> number_or_nothing(int column) const;
    [[nodiscard]] bool is_nothing(int column) const;
    [[nodiscard]] std::string text(int column);
    /// Throws at this row: `problem` of the value in this column.
    [[noreturn]] void fail(int column, std::string_view problem) const;

private:
    StoreDatabase const* database_;
    std::unique_ptr<sqlite3_stmt, FinishStatement> statement_;
    RowBudget budget_;
    int bound_ = 0;
    std::uint64_t row_ = 0;
};

/// Transaction: all changes between its making and `commit` happen together or not at all.
class StoreTransaction {
public:
    enum class Kind { reads, writes };
    StoreTransaction(StoreDatabase const& database, Kind kind);
    ~StoreTransaction();
    StoreTransaction(StoreTransaction const&) = delete;
    StoreTransaction& operator=(StoreTransaction const&) = delete;
    /// On disk when it returns.
    void commit();

private:
    StoreDatabase const* database_;
};

} // namespace headroom::io
