#pragma once

#include "tables/numbers.hpp"

#include "headroom/io/csv.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Fault of a row: of its quotes, or more cells than a table has that somebody wrote.
enum class RowFault { none, stray_quote, open_quote, text_behind_quote, too_many_cells };
/// Without an end a line of commas takes sixty times its size in memory.
inline constexpr std::size_t most_columns = 16'384;
/// More rows are no table to be read as a whole: each takes fifty times the bytes of a short line.
inline constexpr std::size_t most_rows = 1'000'000;

/// Cells of one row of a table: without blanks, quotes, and the marks of Markdown around them.
class CellRow {
public:
    /// Splits a row, which is a line, or more where a quoted cell holds line ends. Of a row with a fault the cells are
    /// those before it, of one with a stray quote all.
    RowFault split(std::string_view row, CsvDialect dialect);
    [[nodiscard]] std::vector<std::string_view> const& cells() const { return cells_; }
    /// Empty where the row is too short.
    [[nodiscard]] std::string_view cell(int column) const {
        auto const at = static_cast<std::size_t>(column);
        return at < cells_.size() ? cells_[at] : std::string_view{};
    }

private:
    RowFault quoted_cell(std::string_view row, std::size_t& at, CsvDialect dialect);
    RowFault plain_cell(std::string_view row, std::size_t& at, CsvDialect dialect);
    [[nodiscard]] std::string_view without_frame(std::string_view row, bool framed);
    [[nodiscard]] std::string_view without_escapes(std::string_view cell);
    std::vector<std::string_view> cells_;
    std::string unquoted_, unframed_;
};

/// A line without any bar, no comment and not blank: a title above a framed table, a caption below it.
bool is_outside_of_frame(std::string_view line, CsvDialect dialect);

/// Comments ("# ..."), empty lines, and the rules of Markdown and of boxes ("|---|", "+---+"): no rows.
bool is_no_row(std::string_view line, CsvDialect dialect);

/// Layout of a table, from its first lines.
struct TableHead {
    CsvDialect dialect;
    std::vector<std::string_view> lines = {}; ///< rows, the header among them
    std::size_t skipped = 0;                  ///< lines before the first row
    std::string_view comment = {};            ///< right above the first row, without its mark
    bool named = false;                       ///< the first row holds names
    /// Names of the columns: from the first row, from the comment above it, or numbers from 1.
    [[nodiscard]] std::vector<std::string> names() const;
    [[nodiscard]] bool has_names() const { return named || !comment.empty(); }
};
/// Bytes at the beginning of a text that are looked at.
inline constexpr std::size_t table_head_bytes = std::size_t{64} << 10;
/// Part of such a beginning up to the end of its last whole line.
std::string_view whole_lines(std::string_view head);
/// The delimiter that cuts most lines into as many cells as the first; a comma, which cuts none, for a single column.
TableHead table_head(std::string_view text);
/// Whether cells are names: none is a number or a date, and one is a text.
bool are_names(std::vector<std::string_view> const& cells);
/// Whether the cells below a head are its units: at least one is, the others say nothing or are words, and the next row
/// holds numbers there.
bool is_row_of_units(std::vector<std::string_view> const& cells, std::vector<std::string_view> const& next);
/// Unit of a cell without its brackets: "ms" of "[ms]"; empty where it is none.
std::string_view unit_in(std::string_view cell);

/// Meaning of the marks in the numbers of each column: its own cells show it, else those of the others.
std::vector<NumberMarks> number_marks(CsvTable const& table);
std::vector<NumberMarks> number_marks(TableHead const& head);

/// Where a cell stands: "runs.csv:3: 'time_ms'".
struct CellPlace {
    std::string_view file;
    std::size_t line = 0;
    std::string_view column;
    [[nodiscard]] std::string text() const;
};
/// Errors: InputError{unreadable}, "runs.csv:3: 'time_ms': '3 furlongs' is not a time".
[[noreturn]] void refuse_cell(CellPlace const& place, std::string_view cell, std::string_view what,
                              std::string hint = {});

} // namespace headroom::io
