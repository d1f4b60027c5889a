#include "headroom/io/csv.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/json_table.hpp"
#include "tables/rows.hpp"
#include "unread_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headroom::io {

namespace {

/// Whether a table is printed for people: its cells hold quotes as they stand.
bool is_printed(CsvDialect dialect) {
    return std::string_view{"| &"}.find(dialect.delimiter) != std::string_view::npos;
}

/// Splits a text into records, one call a record.
class CsvReader {
public:
    CsvReader(std::string_view text, std::string_view where, CsvDialect dialect)
        : text_{text}, where_{where}, dialect_{dialect} {}

    /// The next record; false at the end.
    bool next(CsvTable::Record& record) {
        std::string_view const row = next_row(record.line);
        if (row.empty()) { return false; }
        RowFault const fault = row_.split(row, dialect_);
        bool const delimited = !is_printed(dialect_);
        if (fault == RowFault::open_quote) {
            fail(record.line, "a quote that is never closed", "the cell runs to the end");
        }
        if (fault == RowFault::text_behind_quote) {
            fail(record.line, "text after a closing quote", "a quoted cell ends at a delimiter or a line end",
                 "double the quotes inside a cell");
        }
        if (fault == RowFault::stray_quote && delimited) {
            fail(record.line, "a quote inside a cell", "a cell with quotes is quoted whole");
        }
        if (fault == RowFault::too_many_cells) {
            fail(record.line, fmt::format("more than {} cells in a line", most_columns), "it is no table");
        }
        record.cells.assign(row_.cells().begin(), row_.cells().end());
        return true;
    }

    [[noreturn]] void fail(std::size_t line, std::string problem, std::string why, std::string hint = {}) const {
        unreadable_error(fmt::format("{}:{}", where_, line), std::move(problem), std::move(why), std::move(hint));
    }

private:
    /// The text of the next row, up to a line end outside of quotes; empty at the end.
    std::string_view next_row(std::size_t& line) {
        while (!text_.empty()) {
            line = line_;
            std::size_t end = 0, quotes = 0, lines = 0;
            do {
                std::size_t const begin = lines == 0 ? 0 : end + 1;
                end = std::min(text_.find('\n', begin), text_.size());
                quotes += static_cast<std::size_t>(std::ranges::count(text_.substr(begin, end - begin), '"'));
                ++lines;
            } while (quotes % 2 == 1 && end < text_.size() && !is_printed(dialect_));
            std::string_view const row = text_.substr(0, end);
            text_.remove_prefix(std::min(end + 1, text_.size()));
            line_ += lines;
            if (rows_ > 0 && ended_ == 0 && is_outside_of_frame(row, dialect_)) { ended_ = line; }
            if (is_no_row(row, dialect_)) { continue; }
            if (ended_ > 0) {
                fail(ended_, "text between the rows of a table", "a table ends at its caption",
                     "take it out, or give one table a file");
            }
            ++rows_;
            return row;
        }
        return {};
    }

    std::string_view text_, where_;
    CsvDialect dialect_;
    CellRow row_;
    std::size_t line_ = 1, rows_ = 0;
    std::size_t ended_ = 0; ///< line of text below the rows of a framed table
};

void check_names(CsvTable const& table, CsvReader const& reader) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        auto const& name = table.header[i];
        if (!name.empty() && table.column(name) != static_cast<int>(i)) {
            reader.fail(table.head_line, fmt::format("column {} twice", headroom::quoted(name)),
                        "columns are identified by name");
        }
    }
}

/// Names from the first row, from the comment above it, or numbers from 1.
void name_columns(CsvTable& table, TableHead const& head, CsvTable::Record const& first, bool required) {
    table.head_line = first.line;
    table.header = first.cells;
    auto names = head.names();
    if (required || head.named || names.size() != first.cells.size()) { return; }
    table.header = std::move(names);
    table.named = head.has_names();
    table.records.push_back(first);
}

/// Takes a row of units below the head into the heads: "nodes,time" above "-,ms" is "nodes,time (ms)".
void take_unit_row(CsvTable& table) {
    if (!table.named || table.records.size() < 2) { return; }
    auto const cells = [&](std::size_t row) {
        auto const& all = table.records[row].cells;
        return std::vector<std::string_view>{all.begin(), all.end()};
    };
    if (!is_row_of_units(cells(0), cells(1))) { return; }
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        std::string const& cell = table.records[0].cells[i];
        std::string_view const unit = unit_in(cell);
        if (says_nothing(cell) || cell == "#") { continue; }
        table.header[i] += fmt::format(" ({})", unit.empty() ? std::string_view{cell} : unit);
    }
    table.records.erase(table.records.begin());
}

} // namespace

int CsvTable::column(std::string_view name) const {
    auto const found = std::ranges::find(header, name);
    return found == header.end() ? -1 : static_cast<int>(found - header.begin());
}

CsvTable read_csv(std::string_view text, std::string_view where, CsvOptions const& options) {
    if (text.starts_with(byte_order_mark)) { text.remove_prefix(byte_order_mark.size()); }
    TableHead head = options.sniff ? table_head(text) : TableHead{};
    CsvReader reader{text, where, head.dialect};
    refuse_unread(text, where, "it is not read as a table",
                  {.zip = "of a workbook save the sheet as CSV",
                   .database = "write its table as CSV",
                   .markup = "lines of cells are read: CSV, tabs, Markdown, JSON"});
    if (auto const nul = text.find('\0'); nul != std::string_view::npos) {
        auto const line = static_cast<std::size_t>(std::ranges::count(text.substr(0, nul), '\n')) + 1;
        reader.fail(line, "a zero byte", "the file is not text");
    }
    if (auto json = options.sniff ? json_table(text, where) : std::nullopt) { return std::move(*json); }
    CsvTable table;
    table.dialect = head.dialect;
    CsvTable::Record record;
    if (!reader.next(record)) { unreadable_error(where, "an empty table", "there is no header line"); }
    bool const required = options.header_required || !options.sniff;
    name_columns(table, head, record, required && head.comment.empty());
    if (!options.repeated_names) { check_names(table, reader); }
    while (reader.next(record)) {
        if (table.records.size() + (options.ragged != nullptr ? options.ragged->size() : 0) == most_rows) {
            reader.fail(record.line, "more than 1,000,000 rows", "a table is read as a whole", "give a part of it");
        }
        bool const fits = record.cells.size() == table.header.size();
        if (!fits && options.ragged != nullptr) {
            options.ragged->push_back(std::move(record));
            continue;
        }
        if (!fits) {
            reader.fail(record.line, fmt::format("{} cells", record.cells.size()),
                        fmt::format("the header has {}", table.header.size()));
        }
        table.records.push_back(std::move(record));
    }
    if (options.sniff) { take_unit_row(table); }
    return table;
}

std::string csv_cell(std::string_view text) {
    bool const plain = text.find_first_of(",\"\r\n") == std::string_view::npos && !text.starts_with(byte_order_mark);
    if (plain) { return std::string{text}; }
    std::string cell = "\"";
    for (char const c : text) { cell.append(c == '"' ? 2 : 1, c); }
    return cell + '"';
}

} // namespace headroom::io
