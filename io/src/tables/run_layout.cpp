#include "tables/run_layout.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/numbers.hpp"
#include "tables/rows.hpp"
#include "tables/run_heads.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::io {
namespace {

using IsHead = std::function<bool(std::string_view)>;

void drop_groups(CsvTable& table) {
    std::vector<std::string> heads;
    for (std::string const& head : table.header) {
        std::string plain{without_group(head)};
        bool const repeated = std::ranges::find(heads, plain) != heads.end();
        heads.push_back(repeated ? head : std::move(plain));
    }
    table.header = std::move(heads);
}

/// Heads of a table whose rows and columns are exchanged.
constexpr std::ptrdiff_t least_heads = 4;
constexpr std::size_t most_heads = 100;

void transpose(CsvTable& table, IsHead const& is_head) {
    if (table.header.size() < 2 || table.records.size() > most_heads) { return; }
    auto const stand_above = std::ranges::count_if(table.header, is_head);
    if (stand_above >= least_heads) { return; }
    auto const stand_first =
        std::ranges::count_if(table.records, [&](auto const& record) { return is_head(record.cells[0]); });
    if (stand_first < least_heads) { return; }
    auto const unit = std::ranges::find_if(table.header.begin() + 1, table.header.end(), [](std::string const& head) {
        return normalised(head) == "unit" || normalised(head) == "units";
    });
    if (unit != table.header.end()) { // "step time,ms,7100"
        auto const column = unit - table.header.begin();
        for (auto& record : table.records) {
            std::string const of = record.cells[static_cast<std::size_t>(column)];
            if (!says_nothing(of)) { record.cells[0] += fmt::format(" ({})", of); }
            record.cells.erase(record.cells.begin() + column);
        }
        table.header.erase(unit);
    }
    CsvTable turned{.header = {}, .records = {}, .dialect = table.dialect, .head_line = table.head_line};
    bool const of_runs = !is_head(table.header[0]); // names of the runs stand above them
    turned.header.emplace_back(of_runs ? "id" : table.header[0]);
    for (auto const& record : table.records) { turned.header.push_back(record.cells[0]); }
    for (std::size_t i = 1; i < table.header.size(); ++i) {
        CsvTable::Record run{.line = table.head_line, .cells = {table.header[i]}};
        for (auto const& record : table.records) { run.cells.push_back(record.cells[i]); }
        turned.records.push_back(std::move(run));
    }
    table = std::move(turned);
}

void join_two_lines(CsvTable& table, IsHead const& is_head) {
    if (table.records.size() < 2) { return; }
    auto const& below = table.records[0].cells;
    bool const numbers = std::ranges::any_of(
        below, [](std::string const& cell) { return cell_number(cell).fault == CellNumber::Fault::none; });
    if (numbers || std::ranges::find(table.header, "") == table.header.end()) { return; }
    std::vector<std::string> heads;
    std::string group;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        if (!table.header[i].empty()) { group = table.header[i]; }
        std::string const one = group.ends_with('s') ? group.substr(0, group.size() - 1) : group; // "GPUs": "GPU type"
        std::array const choices{fmt::format("{} {}", group, below[i]), fmt::format("{} {}", one, below[i]), below[i]};
        auto const* const chosen = std::ranges::find_if(choices, is_head);
        heads.push_back(below[i].empty() ? table.header[i] : chosen == choices.end() ? choices[0] : *chosen);
    }
    if (std::ranges::count_if(heads, is_head) <= std::ranges::count_if(table.header, is_head)) { return; }
    table.header = std::move(heads);
    table.records.erase(table.records.begin());
}

constexpr std::array<std::string_view, 6> degrees{"tp", "pp", "dp", "cp", "ep", "virtual_pp"};

std::string_view degree_of(std::string_view word) {
    auto const* const found =
        std::ranges::find_if(degrees, [word](std::string_view one) { return is_head_of(one, word); });
    return found == degrees.end() ? std::string_view{} : *found;
}

/// Runs of letters and runs of digits of a text, in lower case; an "x" between others stands for a product.
std::vector<std::string> letters_and_digits(std::string_view text) {
    std::vector<std::string> parts(1);
    for (char const written : text) {
        char const c = lowered(written);
        bool const digit = is_decimal_digit(c), letter = c >= 'a' && c <= 'z' && c != 'x';
        bool const other = !parts.back().empty() && is_decimal_digit(parts.back().back()) != digit;
        if (!parts.back().empty() && (other || !(digit || letter))) { parts.emplace_back(); }
        if (digit || letter) { parts.back() += c; }
    }
    if (parts.back().empty()) { parts.pop_back(); }
    return parts;
}

/// Degrees of a cell, and its other words.
struct Layout {
    std::vector<std::pair<std::string_view, std::string>> degrees;
    std::string rest;
};

/// Degrees by their own words, "TP2 PP4", "tp=2,pp=4", "tp4 zero1", else by those of the head, where there are as many.
Layout layout_of(std::vector<std::string_view> const& named, std::string_view cell) {
    auto const parts = letters_and_digits(cell);
    auto const is_number = [](std::string const& one) { return is_decimal_digit(one[0]); };
    bool const numbers = std::ranges::all_of(parts, is_number);
    Layout layout;
    if (numbers && parts.size() == named.size()) {
        for (std::size_t i = 0; i < parts.size(); ++i) { layout.degrees.emplace_back(named[i], parts[i]); }
        return layout;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        bool const counted = i + 1 < parts.size() && is_number(parts[i + 1]);
        std::string_view const degree = counted && !is_number(parts[i]) ? degree_of(parts[i]) : std::string_view{};
        if (!degree.empty()) {
            layout.degrees.emplace_back(degree, parts[++i]);
        } else {
            bool const behind = i > 0 && is_number(parts[i]);
            layout.rest += (layout.rest.empty() || behind ? "" : " ") + parts[i];
        }
    }
    if (layout.degrees.empty()) { layout.rest = cell; }
    return layout;
}

void write_degree(CsvTable& table, std::size_t row, std::string_view degree, std::string const& number) {
    if (table.column(degree) < 0) {
        table.header.emplace_back(degree);
        for (auto& record : table.records) { record.cells.emplace_back(); }
    }
    std::string& cell = table.records[row].cells[static_cast<std::size_t>(table.column(degree))];
    if (says_nothing(cell) || cell == number) {
        cell = number;
    } else {
        cell += " and " + number; // of a column of its own: refused as no count
    }
}

/// Replaces a column of several degrees by one for each, and by what else its cells say: "tp4 zero1".
void split_degrees(CsvTable& table) {
    constexpr std::array<std::string_view, 7> words{"parallelism", "parallel", "strategy",      "layout",
                                                    "degrees",     "mesh",     "parallelconfig"};
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        std::vector<std::string_view> named;
        auto const parts = letters_and_digits(table.header[i]);
        for (std::string const& part : parts) { named.push_back(degree_of(part)); }
        bool const several = named.size() > 1 && std::ranges::find(named, "") == named.end();
        std::string joined;
        for (std::string const& part : parts) { joined += part; }
        if (!several && std::ranges::find(words, joined) == words.end()) { continue; }
        if (!several) { named.clear(); }
        std::vector<Layout> layouts;
        for (auto const& record : table.records) { layouts.push_back(layout_of(named, record.cells[i])); }
        auto const without = [](Layout const& one) { return one.degrees.empty(); };
        bool const none = several ? std::ranges::any_of(layouts, without) : std::ranges::all_of(layouts, without);
        if (none) { continue; }
        for (std::size_t row = 0; row < layouts.size(); ++row) {
            table.records[row].cells[i] = layouts[row].rest;
            for (auto const& [degree, number] : layouts[row].degrees) { write_degree(table, row, degree, number); }
        }
        if (std::ranges::any_of(layouts, [](Layout const& one) { return !one.rest.empty(); })) { return; }
        auto const at = static_cast<std::ptrdiff_t>(i);
        table.header.erase(table.header.begin() + at);
        for (auto& record : table.records) { record.cells.erase(record.cells.begin() + at); }
        return;
    }
}

} // namespace

void arrange_runs(CsvTable& table, IsHead const& is_head) {
    drop_groups(table);
    transpose(table, is_head);
    join_two_lines(table, is_head);
    split_degrees(table);
}

std::string without_titles(std::string_view csv, IsHead const& is_head, std::vector<Issue>& issues) {
    constexpr int most_lines = 20;
    std::size_t begin = 0;
    std::vector<std::string> titles;
    CellRow cells;
    for (int line = 0; line < most_lines && begin < csv.size(); ++line) {
        std::size_t const end = std::min(csv.find('\n', begin), csv.size());
        std::string_view const row = trimmed_line(csv.substr(begin, end - begin));
        std::ptrdiff_t heads = 0, filled = 0;
        for (char const delimiter : {',', ';', '\t'}) {
            if (cells.split(row, {.delimiter = delimiter}) > RowFault::stray_quote) { continue; }
            heads = std::max(heads, std::ranges::count_if(cells.cells(), is_head));
            filled = std::max(filled, std::ranges::count_if(cells.cells(), [](auto cell) { return !cell.empty(); }));
        }
        if (heads >= least_heads) {
            for (std::string const& title : titles) {
                count_issue(issues, Issue{.kind = "line above the table", .count = 1, .line = 1, .text = title});
            }
            return titles.empty() ? std::string{csv}
                                  : std::string(static_cast<std::size_t>(line), '\n') + std::string{csv.substr(begin)};
        }
        if (filled > 1 || row.starts_with('|') || row.starts_with('{') || row.starts_with('[')) { break; }
        if (filled == 1 && !row.starts_with('#')) { titles.push_back(shortened(row)); }
        begin = end + 1;
    }
    return std::string{csv};
}

namespace {

/// Leaves out heads that stand between the rows again.
void drop_heads_between_rows(CsvTable& table, std::string_view where, IsHead const& is_head,
                             std::vector<Issue>& issues) {
    std::erase_if(table.records, [&](CsvTable::Record const& record) {
        if (std::ranges::any_of(record.cells, is_plain_number)) { return false; }
        auto const heads = std::ranges::count_if(record.cells, is_head);
        if (heads < least_heads || 2 * heads < std::ssize(record.cells)) { return false; }
        bool const same = std::ranges::equal(record.cells, table.header, [](auto const& cell, auto const& head) {
            return same_caseless(cell, head) || same_caseless(without_group(cell), head);
        });
        if (!same) {
            unreadable_error(fmt::format("{}:{}", where, record.line), "other heads between the rows",
                             "they begin a second table", "give each table a file");
        }
        count_issue(issues, Issue{.kind = "heads between the rows", .count = 1, .line = record.line, .kept = true});
        return true;
    });
}

/// Columns whose cells a table states once for the rows below: the model first.
std::vector<std::size_t> merged_columns(CsvTable const& table) {
    std::vector<std::size_t> columns;
    for (std::string_view const name : {"model_name", "accelerator", "seq_len", "global_batch_sequences"}) {
        for (std::size_t i = 0; i < table.header.size(); ++i) {
            if (normalised(table.header[i]) != normalised(name) && !is_head_of(name, table.header[i])) { continue; }
            bool const counts = name == "accelerator" && std::ranges::any_of(table.records, [i](auto const& record) {
                                    return is_plain_number(record.cells[i]); // "gpus" next to "gpu"
                                });
            if (counts) { continue; }
            columns.push_back(i);
            break;
        }
        if (columns.empty()) { return {}; }
    }
    return columns;
}

} // namespace

void join_parts(CsvTable& table, std::string_view where, IsHead const& is_head, std::vector<Issue>& issues) {
    drop_heads_between_rows(table, where, is_head, issues);
    constexpr std::array<std::string_view, 13> unstated{
        "?",    "??",      "\xE2\x80\x94", "\xE2\x80\x93", "tbd",        "unknown", "not stated", "not reported",
        "n.a.", "#div/0!", "#value!",      "#ref!",        "unspecified"};
    for (CsvTable::Record& record : table.records) {
        for (std::string& cell : record.cells) {
            bool const none =
                std::ranges::any_of(unstated, [&](std::string_view word) { return same_caseless(cell, word); });
            if (none) { cell.clear(); }
        }
    }
    auto const columns = merged_columns(table);
    for (std::size_t row = 1; row < table.records.size() && !columns.empty(); ++row) {
        auto const& above = table.records[row - 1].cells;
        auto& cells = table.records[row].cells;
        if (!cells[columns[0]].empty() || above[columns[0]].empty()) { continue; }
        for (std::size_t const column : columns) {
            if (cells[column].empty()) { cells[column] = above[column]; }
        }
        count_issue(issues, Issue{.kind = "model of the row above",
                                  .count = 1,
                                  .line = table.records[row].line,
                                  .text = shortened(cells[columns[0]]),
                                  .kept = true});
    }
}

} // namespace headroom::io
