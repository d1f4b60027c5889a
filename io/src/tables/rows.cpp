#include "tables/rows.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/time_stamp.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {
namespace {

constexpr std::string_view vertical_bars[]{"\xE2\x94\x82", "\xE2\x94\x83", "\xE2\x95\x91", "\xE2\x94\x86",
                                           "\xE2\x94\x8A"};

bool is_space_or_tab(char c) { return c == ' ' || c == '\t'; }

/// Length of the upright line of a box at the start of a text.
std::size_t bar_at(std::string_view text) {
    return std::ranges::any_of(vertical_bars, [&](std::string_view bar) { return text.starts_with(bar); }) ? 3 : 0;
}

/// `name` of "`name`", "**name**", "*name*", "[name](address)" and "name[^1]".
std::string_view without_markdown(std::string_view cell) {
    if (auto const note = cell.rfind("[^"); note != std::string_view::npos && note > 0 && cell.ends_with(']')) {
        cell = trimmed_line(cell.substr(0, note));
    }
    auto const link = cell.find("](");
    bool const linked = cell.starts_with('[') && link != std::string_view::npos && cell.find(')') + 1 == cell.size();
    if (linked) { cell = cell.substr(1, link - 1); }
    for (std::string_view const mark : {"**", "`", "*"}) {
        bool const marked = cell.size() > 2 * mark.size() && cell.starts_with(mark) && cell.ends_with(mark);
        if (marked) { return cell.substr(mark.size(), cell.size() - 2 * mark.size()); }
    }
    return cell;
}

/// Only lines of a box, or dashes, equals signs, colons and bars of Markdown.
bool is_rule(std::string_view line, bool bars) {
    std::size_t strokes = 0, run = 0, longest = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        bool const box = line[i] == '\xE2' && i + 2 < line.size() && (line[i + 1] == '\x94' || line[i + 1] == '\x95');
        bool const stroke = box || line[i] == '-' || line[i] == '=';
        if (!stroke && std::string_view{"+|: \t"}.find(line[i]) == std::string_view::npos) { return false; }
        if (box) { i += 2; }
        run = stroke ? run + 1 : 0;
        strokes += stroke ? 1 : 0;
        longest = std::max(longest, run);
    }
    return strokes > 0 && (bars || longest > 2);
}

/// A cell of LaTeX as plain text: without \textbf{}, dollars and the end of its row.
std::string_view without_latex(std::string_view cell, std::string& storage) {
    std::size_t const begin = storage.size();
    storage += plain_latex(cell);
    return std::string_view{storage}.substr(begin);
}

std::size_t next_delimiter(std::string_view row, std::size_t at, CsvDialect dialect) {
    if (dialect.delimiter != ' ') {
        std::size_t end = row.find(dialect.delimiter, at);
        while (dialect.delimiter == '|' && end != std::string_view::npos && end > at && row[end - 1] == '\\') {
            end = row.find('|', end + 1);
        }
        return std::min(end, row.size());
    }
    for (; at < row.size(); ++at) {
        bool const wide = row[at] == '\t' || (row[at] == ' ' && at + 1 < row.size() && is_space_or_tab(row[at + 1]));
        if (dialect.wide ? wide : is_space_or_tab(row[at])) { return at; }
    }
    return row.size();
}

} // namespace

std::string_view CellRow::without_frame(std::string_view row, bool framed) {
    if (row.find('\xE2') != std::string_view::npos) {
        unframed_.clear();
        for (std::size_t at = 0; at < row.size();) {
            std::size_t const bar = bar_at(row.substr(at));
            unframed_ += bar > 0 ? '|' : row[at];
            at += bar > 0 ? bar : 1;
        }
        row = unframed_;
    }
    row = trimmed_line(row);
    if (!framed) { return row; }
    if (row.starts_with('|')) { row.remove_prefix(1); }
    bool const escaped = row.size() > 1 && row[row.size() - 2] == '\\';
    if (row.ends_with('|') && !escaped) { row.remove_suffix(1); }
    return row;
}

/// A cell that begins with a quote at `at`, which moves behind the closing one and what blanks follow. Doubled quotes
/// within stand for one.
RowFault CellRow::quoted_cell(std::string_view row, std::size_t& at, CsvDialect dialect) {
    std::size_t const begin = unquoted_.size();
    while (true) {
        std::size_t const quote = row.find('"', at + 1);
        if (quote == std::string_view::npos) { return RowFault::open_quote; }
        unquoted_.append(row.substr(at + 1, quote - at - 1));
        at = quote + 1;
        if (at == row.size() || row[at] != '"') { break; }
        unquoted_ += '"';
    }
    std::size_t const end = next_delimiter(row, at, dialect);
    if (!trimmed_line(row.substr(at, end - at)).empty()) { return RowFault::text_behind_quote; }
    at = end;
    cells_.emplace_back(unquoted_.data() + begin, unquoted_.size() - begin);
    return RowFault::none;
}

/// "a|b" of "a\|b".
std::string_view CellRow::without_escapes(std::string_view cell) {
    std::size_t const begin = unquoted_.size();
    for (std::size_t i = 0; i < cell.size(); ++i) {
        if (!cell.substr(i).starts_with("\\|")) { unquoted_ += cell[i]; }
    }
    return std::string_view{unquoted_}.substr(begin);
}

RowFault CellRow::plain_cell(std::string_view row, std::size_t& at, CsvDialect dialect) {
    std::size_t const end = next_delimiter(row, at, dialect);
    std::string_view cell = trimmed_line(row.substr(at, end - at));
    if (dialect.delimiter == '&') { cell = without_latex(cell, unquoted_); }
    if (dialect.delimiter == '|') { cell = without_markdown(cell); }
    if (dialect.delimiter == '|' && cell.find("\\|") != std::string_view::npos) { cell = without_escapes(cell); }
    cells_.push_back(cell);
    at = end;
    return cell.find('"') == std::string_view::npos ? RowFault::none : RowFault::stray_quote;
}

RowFault CellRow::split(std::string_view row, CsvDialect dialect) {
    cells_.clear();
    unquoted_.clear();
    if (dialect.delimiter == '|') { row = without_frame(row, dialect.framed); }
    if (dialect.delimiter == ' ') { row = trimmed_line(row); }
    unquoted_.reserve(row.size()); // so that cells may point into it
    RowFault worst = RowFault::none;
    std::size_t at = 0;
    while (true) {
        while (at < row.size() && is_space_or_tab(row[at]) && row[at] != dialect.delimiter) { ++at; }
        bool const quoted = at < row.size() && row[at] == '"';
        RowFault const fault = quoted ? quoted_cell(row, at, dialect) : plain_cell(row, at, dialect);
        if (fault > RowFault::stray_quote) { return fault; }
        worst = std::max(worst, fault);
        if (at >= row.size()) { return worst; }
        if (cells_.size() == most_columns) { return RowFault::too_many_cells; }
        ++at;
        while (dialect.delimiter == ' ' && at < row.size() && is_space_or_tab(row[at])) { ++at; }
    }
}

namespace {

/// "sep=;", by which spreadsheets state a delimiter in the first line.
bool states_delimiter(std::string_view line) {
    constexpr std::size_t length = 5;
    line = trimmed_line(line);
    if (line.size() > length && line.starts_with('"') && line.ends_with('"')) {
        line = line.substr(1, line.size() - 2);
    }
    return line.size() == length && same_caseless(line.substr(0, length - 1), "sep=");
}

bool is_framed(std::string_view line) {
    line = trimmed_line(line);
    return line.starts_with('|') || bar_at(line) > 0;
}

} // namespace

bool is_outside_of_frame(std::string_view line, CsvDialect dialect) {
    line = trimmed_line(line);
    bool const bars = line.find('|') != std::string_view::npos || line.find('\xE2') != std::string_view::npos;
    bool const rule = line.find_first_not_of("+-=: \t") == std::string_view::npos;
    return dialect.framed && !line.empty() && !line.starts_with('#') && !bars && !rule && !is_framed(line);
}

bool is_no_row(std::string_view line, CsvDialect dialect) {
    line = trimmed_line(line);
    if (states_delimiter(line) || is_outside_of_frame(line, dialect)) { return true; }
    bool const ruled = dialect.delimiter == '|' || dialect.delimiter == ' ';
    bool const latex = dialect.delimiter == '&';
    if (latex && line.find('&') == std::string_view::npos) { return line.empty() || line.starts_with('\\'); } // a rule
    if (latex) { return line.starts_with('%'); }
    return line.empty() || line.starts_with('#') || (ruled && is_rule(line, dialect.delimiter == '|'));
}

bool are_names(std::vector<std::string_view> const& cells) {
    bool any = false;
    for (std::string_view const cell : cells) {
        CellValue const value = cell_value(cell, CellMeasure::time);
        if (value.is_number() || date_and_time(cell).has_value()) { return false; }
        any = any || value.kind == CellValue::Kind::text;
    }
    return any;
}

std::string_view unit_in(std::string_view cell) {
    cell = trimmed_line(cell);
    bool const bracket = cell.size() > 2 && (cell.front() == '(' || cell.front() == '[');
    if (bracket) { cell = trimmed_line(cell.substr(1, cell.size() - 2)); }
    bool const unit = unit_named(CellMeasure::time, cell, true) || unit_named(CellMeasure::size, cell) ||
                      unit_named(CellMeasure::rate, cell);
    return unit ? cell : std::string_view{};
}

bool is_row_of_units(std::vector<std::string_view> const& cells, std::vector<std::string_view> const& next) {
    bool any = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (std::ranges::any_of(cells[i], is_decimal_digit)) { return false; }
        bool const number = i < next.size() && cell_value(next[i], CellMeasure::nothing).is_number();
        any = any || (number && !unit_in(cells[i]).empty());
    }
    return any;
}

namespace {

constexpr std::size_t looked_at = 200; ///< lines

/// Number of lines with as many cells as the first, which must have two at least.
std::size_t agreeing(std::vector<std::string_view> const& lines, CsvDialect dialect) {
    CellRow row;
    if (row.split(lines.front(), dialect) > RowFault::stray_quote || row.cells().size() < 2) { return 0; }
    std::size_t const cells = row.cells().size();
    return static_cast<std::size_t>(std::ranges::count_if(lines, [&](std::string_view line) {
        return row.split(line, dialect) <= RowFault::stray_quote && row.cells().size() == cells;
    }));
}

/// Rows of LaTeX: cells between ampersands, two backslashes at the end.
bool is_latex_row(std::string_view line) {
    auto const cell = line.find('&'), end = line.rfind("\\\\");
    return cell != std::string_view::npos && end != std::string_view::npos && cell < end;
}

CsvDialect dialect_of(std::vector<std::string_view> const& lines) {
    auto const cells = std::ranges::count_if(lines, is_latex_row);
    auto const rules = std::ranges::count_if(
        lines, [](std::string_view line) { return trimmed_line(line).starts_with('\\') && !is_latex_row(line); });
    if (cells > 0 && 2 * cells >= std::ssize(lines) - rules) { return {.delimiter = '&'}; }
    auto const frames = std::ranges::count_if(lines, is_framed);
    auto const outside = [](std::string_view line) {
        return trimmed_line(line).empty() || is_outside_of_frame(line, {.delimiter = '|', .framed = true});
    };
    bool const framed = is_framed(lines.front()) ||
                        (frames > 1 && outside(lines.front()) && is_framed(*std::ranges::find_if_not(lines, outside)));
    CsvDialect best;
    std::size_t most = 0;
    for (CsvDialect const one :
         {CsvDialect{','}, CsvDialect{'\t'}, CsvDialect{';'}, CsvDialect{.delimiter = '|', .framed = framed}}) {
        std::size_t const agree = agreeing(lines, one);
        if (agree > most) {
            most = agree;
            best = one;
        }
    }
    if (framed) { return {.delimiter = '|', .framed = true}; }
    // "180 ms" is one cell.
    bool const units = cell_value(lines.back(), CellMeasure::time).kind == CellValue::Kind::with_unit;
    if (most > 0 || units) { return best; }
    most = lines.size() / 2;
    for (CsvDialect const one : {CsvDialect{.delimiter = ' ', .wide = true}, CsvDialect{.delimiter = ' '}}) {
        std::size_t const agree = agreeing(lines, one);
        if (agree > most) {
            most = agree;
            best = one;
        }
    }
    return best;
}

} // namespace

TableHead table_head(std::string_view text) {
    TableHead head;
    std::vector<std::size_t> above; // lines before each
    for (std::size_t number = 0; !text.empty() && head.lines.size() < looked_at; ++number) {
        std::size_t const end = std::min(text.find('\n'), text.size());
        std::string_view const row = text.substr(0, end), line = trimmed_line(row); // blanks may part cells
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.starts_with('#') || is_rule(line, false) || states_delimiter(line)) {
            if (head.lines.empty()) {
                head.comment = line.starts_with('#') ? trimmed_line(line.substr(1)) : std::string_view{};
            }
            continue;
        }
        head.lines.push_back(row);
        above.push_back(number);
    }
    if (!head.lines.empty()) { head.dialect = dialect_of(head.lines); }
    auto const first =
        std::ranges::find_if_not(head.lines, [&](std::string_view line) { return is_no_row(line, head.dialect); });
    if (!above.empty()) {
        auto const place = static_cast<std::size_t>(first - head.lines.begin());
        head.skipped = place < above.size() ? above[place] : above.back() + 1;
    }
    std::erase_if(head.lines, [&](std::string_view line) { return is_no_row(line, head.dialect); });
    if (head.lines.empty()) {
        head.comment = {};
        return head;
    }
    CellRow row, comment;
    row.split(head.lines.front(), head.dialect);
    head.named = are_names(row.cells());
    comment.split(head.comment, head.dialect);
    bool const names = !head.named && row.cells().size() > 1 && comment.cells().size() == row.cells().size();
    if (!names || !are_names(comment.cells())) { head.comment = {}; }
    return head;
}

std::string_view whole_lines(std::string_view head) {
    if (head.starts_with(byte_order_mark)) { head.remove_prefix(byte_order_mark.size()); }
    std::size_t const last = head.rfind('\n');
    bool const cut = head.size() + byte_order_mark.size() >= table_head_bytes && last != std::string_view::npos;
    return cut ? head.substr(0, last + 1) : head;
}

std::vector<std::string> TableHead::names() const {
    CellRow row;
    if (!lines.empty()) { row.split(named || comment.empty() ? lines.front() : comment, dialect); }
    std::vector<std::string> names{row.cells().begin(), row.cells().end()};
    for (std::size_t i = 0; i < names.size() && !has_names(); ++i) { names[i] = fmt::format("{}", i + 1); }
    return names;
}

std::vector<NumberMarks> number_marks(TableHead const& head) {
    CsvTable table{.header = head.names(), .records = {}, .dialect = head.dialect};
    CellRow row;
    for (std::string_view const line : head.lines) {
        row.split(line, head.dialect);
        if (row.cells().size() != table.header.size()) { continue; }
        table.records.push_back({.line = 0, .cells = {row.cells().begin(), row.cells().end()}});
    }
    return number_marks(table);
}

std::vector<NumberMarks> number_marks(CsvTable const& table) {
    std::vector<NumberMarks> marks(table.header.size());
    for (NumberMarks& one : marks) { one.comma_groups = table.dialect.delimiter != ';'; }
    for (auto const& record : table.records) {
        for (std::size_t i = 0; i < record.cells.size(); ++i) { marks[i].learn(record.cells[i]); }
    }
    NumberMarks all;
    for (NumberMarks const& one : marks) { all.learn(one); }
    for (NumberMarks& one : marks) { one = one.completed(all); }
    return marks;
}

void write_numbers_plainly(CsvTable& table, std::vector<std::size_t> const& columns, std::string_view where) {
    auto marks = number_marks(table);
    for (std::size_t const column : columns) {
        marks[column].comma_groups = false; // "1,500" in a table that does not show it may be 1.5
        for (auto& record : table.records) {
            std::string& cell = record.cells[column];
            CellNumber const number = cell_number(cell, marks[column]);
            if (number.fault == CellNumber::Fault::no_number) { continue; }
            if (number.fault != CellNumber::Fault::none) {
                refuse_cell({where, record.line, table.header[column]}, cell, words_of(number.fault),
                            std::string{hint_of(number.fault)});
            }
            cell = fmt::format("{:.17g}{}{}", number.value, number.rest.empty() ? "" : " ", std::string{number.rest});
        }
    }
}

std::string CellPlace::text() const { return fmt::format("{}:{}: {}", file, line, headroom::quoted(column)); }

void refuse_cell(CellPlace const& place, std::string_view cell, std::string_view what, std::string hint) {
    unreadable_error(place.text(), fmt::format("{} is {}", headroom::quoted(cell), what), {}, std::move(hint));
}

} // namespace headroom::io
