#pragma once

#include "tables/units.hpp"

#include "headroom/io/csv.hpp"
#include "headroom/issue.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A row of the table of columns that one sort of file may hold.
struct ColumnRow {
    std::string_view names; ///< letters and digits alone, in lower case, parted by blanks; the surest first
    CellMeasure measure = CellMeasure::nothing; ///< its head may end in a unit of it
    bool required = false;
    std::string_view what = {};    ///< "worker counts", for the error where it is missing
    std::string_view option = {};  ///< that names it
    std::string_view remarks = {}; ///< words that may stand in its brackets, next to those of every head
    bool rates = false;            ///< its brackets may hold a rate: "throughput (img/s)"
};

/// Words of a head that change which of several columns is taken, or that are passed over; parted by blanks.
struct HeadWords {
    std::string_view words;
    int rank; ///< added to that of the name
};

/// A column that a row of the table matches.
struct ColumnMatch {
    static constexpr int unit_alone = 1'000, never = 100'000;
    static constexpr int unread_later = 300; ///< rank that brackets add which are not understood
    int column = -1;
    int rank = never; ///< place of its name in the row; `unit_alone` of a head that only ends in a unit
    std::optional<CellUnit> unit = {}; ///< that its head ends in
    bool unread = false;               ///< brackets of its head are neither a unit nor a known remark
    [[nodiscard]] bool found() const { return column >= 0; }
};

/// Match of a head: "Avg latency (ms)", "latency_ms", "latencyMs", "latency [msec]" are "latency" in milliseconds. A
/// lone "m", and "min" where it is among the words, are units in brackets only. A rate is no column of times.
/// Brackets that hold neither a unit nor a known remark leave a match `unread`: its reader refuses it where it is used.
ColumnMatch match_head(std::string_view head, ColumnRow const& row, std::span<HeadWords const> words = {});
/// The best of all heads, the first where several are alike.
ColumnMatch match_column(std::vector<std::string> const& header, ColumnRow const& row,
                         std::span<HeadWords const> words = {});

/// The column that a user names, whatever its case, or by its number from 1; the unit of `measure` that its head ends in.
/// Errors: InputError{usage} at `where`.
ColumnMatch asked_column(std::vector<std::string> const& header, bool named, std::string const& asked,
                         CellMeasure measure, std::string_view where);

/// Text of a head that is no unit of time: "cycles" of "latency_cycles", "ks" of "time (ks)"; what stands in brackets is a
/// unit of time or a known remark, or it is such a text. Empty for all else.
std::string other_unit(std::string_view head);
/// Refuses such a column, and a rate, where times are read. Errors: InputError{usage} at `place`.
void refuse_other_unit(std::string_view head, std::string_view place);

/// Refuses a head whose brackets are not understood. Errors: InputError{usage} at `place`.
void refuse_unread(std::string_view head, ColumnRow const& row, std::string_view place);

/// Whether a head ends in a "min" without brackets: "runtime_min", "time min", "min".
bool says_minutes_or_minimum(std::string_view head);
/// Whether such a one is a minimum, as a column of the maximum or the mean shows, or its own unit: "time_s_min".
bool is_minimum(std::vector<std::string> const& header, std::string_view head);
/// Errors: InputError{usage} at `place`.
[[noreturn]] void refuse_minutes_or_minimum(std::string_view head, std::string_view place);

/// Name of a column in quotes.
std::string name_at(CsvTable const& table, int column);
/// "t.csv:3", the line of the names.
std::string head_place(CsvTable const& table, std::string_view where);

/// "the columns are 'a', 'b', ...".
std::string listed_columns(std::vector<std::string> const& header);
/// Errors: InputError{usage}: "t.csv:1: no column of worker counts (the columns are ...)".
[[noreturn]] void refuse_missing_column(std::vector<std::string> const& header, std::string_view place,
                                        std::string_view what, std::string hint);

/// The column whose cells state the unit of another one: "time_unit", "unit"; -1 where there is none.
int unit_column(std::vector<std::string> const& header);

/// Names of the columns that are not among `used`.
std::vector<std::string> unused_columns(std::vector<std::string> const& header, std::span<int const> used);
/// Reports columns (or keys of objects) that were not used as one issue; none where all are.
void report_unused(std::vector<Issue>& issues, std::vector<std::string> const& unused, bool keys = false);

} // namespace headroom::io
