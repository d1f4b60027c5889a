// Any bytes as a table: rows of equal length or one InputError; what was read is written and read back the same.

#include "headroom/error.hpp"
#include "headroom/io/csv.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

void write_row(std::string& text, std::vector<std::string> const& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) text += ',';
        // A lone empty cell would be an empty line, which is no row.
        text += cells.size() == 1 && cells[0].empty() ? "\"\"" : headroom::io::csv_cell(cells[i]);
    }
    text += '\n';
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    try {
        auto const table = headroom::io::read_csv({reinterpret_cast<char const*>(data), size}, "table.csv");
        std::string text;
        write_row(text, table.header);
        for (auto const& record : table.records) {
            if (record.cells.size() != table.header.size()) std::abort();
            write_row(text, record.cells);
        }
        auto const again = headroom::io::read_csv(text, "table.csv");
        if (again.header != table.header || again.records.size() != table.records.size()) std::abort();
        for (std::size_t i = 0; i < table.records.size(); ++i) {
            if (again.records[i].cells != table.records[i].cells) std::abort();
        }
    } catch (headroom::InputError const& error) {
        if (std::string_view{error.what()}.find('\n') != std::string_view::npos) std::abort();
    }
    return 0;
}
