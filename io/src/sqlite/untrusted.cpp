#include "sqlite/untrusted.hpp"

#include <sqlite3.h>

namespace headroom::io {

namespace {

constexpr std::uint64_t least_row_bytes = 5; ///< of a row in a page: its place, length, number, header and one column

/// Modulo 2^32, as SQLite counts them.
std::uint32_t pages_touched(sqlite3* database) {
    int hits = 0, misses = 0, most = 0;
    sqlite3_db_status(database, SQLITE_DBSTATUS_CACHE_HIT, &hits, &most, 0);
    sqlite3_db_status(database, SQLITE_DBSTATUS_CACHE_MISS, &misses, &most, 0);
    return static_cast<std::uint32_t>(hits) + static_cast<std::uint32_t>(misses);
}

} // namespace

void CloseDatabase::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void FinishStatement::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void distrust(sqlite3* database) {
    for (int const off : {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_TRUSTED_SCHEMA,
                          SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION}) {
        sqlite3_db_config(database, off, 0, nullptr);
    }
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, most_value_bytes);
    sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
    sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, 64);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(database, SQLITE_LIMIT_WORKER_THREADS, 0);
    sqlite3_exec(database, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY", nullptr, nullptr,
                 nullptr);
}

std::string_view column_text(sqlite3_stmt* statement, int column) {
    auto const* const text = reinterpret_cast<char const*>(sqlite3_column_text(statement, column));
    if (text == nullptr) { return {}; }
    return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
}

RowBudget::RowBudget(sqlite3* database, std::uint64_t file_bytes)
    : database_{database}, room_{file_bytes}, pages_before_{pages_touched(database)} {}

bool RowBudget::allows(std::uint64_t rows, bool lookup) const {
    if ((rows > room_ / least_row_bytes && !lookup) || text_bytes_ > room_ * 4 + (1 << 20)) { return false; }
    if (rows % 64 != 0) { return true; }
    std::uint32_t const pages = pages_touched(database_) - pages_before_;
    return pages < rows * 64 + room_ / 8 + 65'536;
}

} // namespace headroom::io
