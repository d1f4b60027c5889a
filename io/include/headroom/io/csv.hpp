#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Layout of a table's rows.
struct CsvDialect {
    char delimiter = ','; ///< a blank stands for any number of blanks
    bool wide = false;    ///< two blanks or a tab at least
    bool framed = false;  ///< rows begin with a bar, and may end with one
    friend bool operator==(CsvDialect const&, CsvDialect const&) = default;
};

/// A table with a header line. Cells are text; `line` is where a record began.
struct CsvTable {
    std::vector<std::string> header; ///< "1", "2", ... where the table has none
    struct Record {
        std::size_t line = 0;
        std::vector<std::string> cells;
    };
    std::vector<Record> records;
    CsvDialect dialect;
    bool named = true;         ///< the header stands in the file
    std::size_t head_line = 1; ///< of the header, or of the first row
    /// Index of a column; -1 when there is none.
    [[nodiscard]] int column(std::string_view name) const;
};

struct CsvOptions {
    bool sniff = true;                               ///< the delimiter; else a comma
    bool header_required = true;                     ///< the first row is one, whatever it holds
    bool repeated_names = false;                     ///< columns may share a name
    std::vector<CsvTable::Record>* ragged = nullptr; ///< rows of another length than the header, which are refused else
};

/// A table of cells between commas, semicolons, tabs, bars (Markdown, boxes), ampersands (LaTeX) or blanks, as RFC 4180 quotes them: doubled
/// quotes, line breaks inside quotes. LF or CRLF, an optional byte order mark; comments ("#") between rows are skipped, and
/// one above rows without a header is their header.
/// Errors: InputError{unreadable} on an open quote, ragged rows, NUL bytes or a duplicate column.
CsvTable read_csv(std::string_view text, std::string_view where, CsvOptions const& options = {});

/// Writes the numbers that cells of these columns begin with as programs do: without marks of groups, with a decimal point.
/// Errors: InputError{unreadable} at a cell that may be either of two numbers, or whose groups are uneven.
void write_numbers_plainly(CsvTable& table, std::vector<std::size_t> const& columns, std::string_view where);

/// Quotes a cell when it needs it.
std::string csv_cell(std::string_view text);

} // namespace headroom::io
