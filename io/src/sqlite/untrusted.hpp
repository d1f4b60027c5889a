#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace headroom::io {

// Limits for a database of SQLite from outside, in one place: it may neither run what its schema says nor go on for
// ever.

inline constexpr int most_value_bytes = 16 << 20;

struct CloseDatabase {
    void operator()(sqlite3* database) const;
};
struct FinishStatement {
    void operator()(sqlite3_stmt* statement) const;
};

/// No views, triggers, functions with effects, extensions, attached files; nothing huge; damage is looked for in pages.
void distrust(sqlite3* database);

/// The bytes of a column as text; empty for null. Stay until the next step.
std::string_view column_text(sqlite3_stmt* statement, int column);

/// Pages that point at each other would give rows without an end: no table has more rows, texts and pages than its
/// file has room for.
class RowBudget {
public:
    RowBudget(sqlite3* database, std::uint64_t file_bytes);
    void add_text(std::size_t bytes) { text_bytes_ += bytes; }
    /// Whether so many rows can be. `lookup`: they are asked for one by one, some more than once.
    [[nodiscard]] bool allows(std::uint64_t rows, bool lookup = false) const;

private:
    sqlite3* database_;
    std::uint64_t room_, text_bytes_ = 0;
    std::uint32_t pages_before_;
};

} // namespace headroom::io
