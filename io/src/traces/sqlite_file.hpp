#pragma once

#include "sqlite/untrusted.hpp"
#include "traces/byte_source.hpp"

#include "headroom/trace/rank_trace.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A database of SQLite that is read and not trusted: only columns that lie in tables are seen, so that no view,
/// trigger, function or virtual table of its schema ever runs; a damaged one ends where it would repeat itself.
class SqliteFile {
public:
    /// Opens the file behind the source where there is one, else its bytes in memory.
    /// Errors: InputError{unreadable} when it is no database or its schema is damaged.
    /// After a request by `stop` every table ends.
    SqliteFile(ByteSource& source, std::string where, std::uint64_t most_bytes, std::stop_token stop = {});
    ~SqliteFile();
    SqliteFile(SqliteFile const&) = delete;
    SqliteFile& operator=(SqliteFile const&) = delete;

    [[nodiscard]] bool has_table(std::string_view table) const { return tables_.contains(lower(table)); }
    [[nodiscard]] bool has_column(std::string_view table, std::string_view column) const;
    /// Whether rows are found by this column without a search.
    [[nodiscard]] bool is_key(std::string_view table, std::string_view column) const;
    [[nodiscard]] std::string const& where() const { return where_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] bool stopped() const { return stop_.stop_requested(); }
    /// Damage and values of the wrong kind, met so far.
    [[nodiscard]] std::vector<trace::TraceIssue> const& issues() const { return issues_; }
    void issue(std::string_view kind, std::string place) { trace::count_issue(issues_, kind, std::move(place)); }

private:
    friend class SqliteRows;
    struct Column {
        std::string name; ///< in lower case
        bool key = false;
    };
    static std::string lower(std::string_view text);
    void open(ByteSource& source, std::uint64_t most_bytes);
    void hold(ByteSource& source, std::uint64_t most_bytes);
    void check_length(int descriptor);
    void allow_only_reads();
    void read_schema();
    void read_columns(std::string const& table);
    [[noreturn]] void fail(std::string problem) const;

    std::string where_;
    std::stop_token stop_;
    std::uint64_t bytes_ = 0;
    std::string held_; ///< the database, where it is in memory; outlives the connection
    std::unique_ptr<sqlite3, CloseDatabase> database_;
    std::map<std::string, std::vector<Column>> tables_; ///< by name in lower case
    std::vector<trace::TraceIssue> issues_;
};

/// The rows of one table in the order in which they lie. A column that the table does not have is null in every row;
/// so is a table that is not there: it has no rows.
class SqliteRows {
public:
    SqliteRows(SqliteFile& file, std::string_view table, std::span<std::string_view const> columns);
    /// The rows whose `key` is given to `find`.
    SqliteRows(SqliteFile& file, std::string_view table, std::span<std::string_view const> columns,
               std::string_view key);
    SqliteRows(SqliteRows const&) = delete;
    SqliteRows& operator=(SqliteRows const&) = delete;
    ~SqliteRows();

    /// Steps to the next row; false at the end, and where damage ends the table.
    bool next();
    /// Starts again at the rows with this key; false when there are none.
    bool find(std::int64_t key);
    /// A whole number, also one written as text; empty for null and for anything else, which is counted.
    std::optional<std::int64_t> whole(std::size_t column);
    /// A text; empty for null. Stays until the next step.
    std::string_view text(std::size_t column);
    [[nodiscard]] std::uint64_t row() const { return row_; }
    /// "FILE: TABLE row 12"
    [[nodiscard]] std::string place() const;

private:
    void prepare(std::span<std::string_view const> columns, std::string_view key);
    bool within_budget();
    SqliteFile* file_;
    std::string table_;
    sqlite3_stmt* statement_ = nullptr;
    bool lookup_ = false;
    std::uint64_t row_ = 0;
    std::optional<RowBudget> budget_;
};

} // namespace headroom::io
