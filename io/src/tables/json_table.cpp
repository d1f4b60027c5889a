#include "tables/json_table.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/rows.hpp"
#include "training_logs/log_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace headroom::io {
namespace {

/// Adds an object as a row, its new keys as columns.
void add_row(FlatObject const& object, std::string_view where, CsvTable& table) {
    CsvTable::Record& record = table.records.back();
    for (auto const& [key, value] : object.pairs) {
        auto const place = static_cast<std::size_t>(std::ranges::find(table.header, key) - table.header.begin());
        if (place == table.header.size()) { table.header.emplace_back(key); }
        if (place >= most_columns) { unreadable_error(where, fmt::format("more than {} keys", most_columns), {}); }
        record.cells.resize(std::max(record.cells.size(), place + 1));
        record.cells[place] = value;
    }
}

} // namespace

std::optional<CsvTable> json_table(std::string_view text, std::string_view where) {
    std::string_view const begin = trimmed_line(text);
    std::string_view const next = trimmed_line(begin.substr(std::min<std::size_t>(1, begin.size())));
    bool const list = begin.starts_with('[') && next.find_first_of("{[") == 0;
    if (!list && !(begin.starts_with('{') && next.find_first_of("\"}") == 0)) { return std::nullopt; }
    std::map<int, std::size_t> counts; // objects by depth
    ObjectRest const rest = scan_objects(text, [&](FlatObject const& object) { ++counts[object.depth]; });
    auto const rows = std::ranges::max_element(counts, {}, [](auto const& one) { return one.second; });
    if (rows == counts.end() || rows->second > most_rows) {
        unreadable_error(where, "JSON without rows, or with more than 1,000,000",
                         "each row is an object: {\"gpus\": 8, \"time_s\": 12.3}");
    }
    if (rest.lines > 0 || !rest.whole) {
        std::string const place = rest.lines > 0 ? fmt::format("{}:{}", where, rest.first_line) : std::string{where};
        unreadable_error(place, rest.lines > 0 ? "no whole object of JSON" : "JSON that is cut short", {});
    }
    CsvTable table;
    std::size_t line = 1, at = 0;
    scan_objects(text, [&](FlatObject const& object) {
        if (object.depth != rows->first) { return; }
        line += static_cast<std::size_t>(std::ranges::count(text.substr(at, object.begin - at), '\n'));
        at = object.begin;
        table.records.push_back({.line = line, .cells = {}});
        add_row(object, where, table);
    });
    for (CsvTable::Record& record : table.records) { record.cells.resize(table.header.size()); }
    return table;
}

} // namespace headroom::io
