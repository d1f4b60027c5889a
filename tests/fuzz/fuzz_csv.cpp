// Any bytes as a table: rows of equal length or one InputError; what was read is written and read back the same. Cells are
// numbers with an end, or are none.

#include "fuzz/require.hpp"
#include "tables/rows.hpp"

#include "headroom/error.hpp"
#include "headroom/io/csv.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace headroom;

/// Every cell in quotes: blanks at its ends and marks of comments are its own.
void write_row(std::string& text, std::vector<std::string> const& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
        text += i > 0 ? ",\"" : "\"";
        for (char const c : cells[i]) { text.append(c == '"' ? 2 : 1, c); }
        text += '"';
    }
    text += '\n';
}

void check_cells(io::CsvTable const& table) {
    auto const marks = io::number_marks(table);
    require(marks.size() == table.header.size());
    for (auto const& record : table.records) {
        for (std::size_t i = 0; i < record.cells.size(); ++i) {
            for (auto const measure : {io::CellMeasure::nothing, io::CellMeasure::time, io::CellMeasure::size}) {
                io::CellValue const value = io::cell_value(record.cells[i], measure, marks[i]);
                require(!std::isnan(value.value) &&
                        (value.kind != io::CellValue::Kind::bare || value.half_unit >= 0.0));
            }
            io::CellNumber const number = io::cell_number(record.cells[i], marks[i]);
            require(number.rest.size() <= record.cells[i].size());
        }
    }
}

void read(std::string_view text, io::CsvOptions const& options) {
    try {
        auto const table = io::read_csv(text, "table.csv", options);
        std::string written;
        write_row(written, table.header);
        for (auto const& record : table.records) {
            require(record.cells.size() == table.header.size() && record.line > 0);
            write_row(written, record.cells);
        }
        check_cells(table);
        auto const again = io::read_csv(written, "table.csv", {.sniff = false, .repeated_names = true});
        require(again.header == table.header && again.records.size() == table.records.size());
        for (std::size_t i = 0; i < table.records.size(); ++i) {
            require(again.records[i].cells == table.records[i].cells);
        }
    } catch (InputError const& error) { require(std::string_view{error.what()}.find('\n') == std::string_view::npos); }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    read(text, {});
    read(text, {.header_required = false, .repeated_names = true});
    return 0;
}
