#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A table with a header line. Cells are text; `line` tells where a record began.
struct CsvTable {
    std::vector<std::string> header;
    struct Record {
        std::size_t line = 0;
        std::vector<std::string> cells;
    };
    std::vector<Record> records;
    /// Index of a column; -1 when there is none.
    [[nodiscard]] int column(std::string_view name) const;
};

/// RFC 4180: quotes, doubled quotes, line breaks inside quotes, CRLF or LF, optional BOM.
/// Rows of another length than the header go to `ragged` where one is given.
/// Errors: InputError{unreadable} on an open quote, ragged rows otherwise, NUL bytes or a duplicate column.
CsvTable read_csv(std::string_view text, std::string_view where, std::vector<CsvTable::Record>* ragged = nullptr);

/// Quotes a cell when it needs it.
std::string csv_cell(std::string_view text);

} // namespace headroom::io
