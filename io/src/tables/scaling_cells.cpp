#include "tables/scaling_cells.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/worker_columns.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::io {
namespace {

/// Squares and fourth powers of values must stay numbers.
constexpr double least_value = 1e-40, largest_value = 1e40, largest_count = 1e12;

double scale_of(char letter) {
    switch (letter) {
    case 'k':
    case 'K': return 1e3;
    case 'M': return 1e6;
    case 'G': return 1e9;
    case 'T': return 1e12;
    default: return 0.0;
    }
}

/// "k img/s" is a thousand "img/s"; "kB/s" stays a label.
double take_scale(std::string_view& label) {
    bool const alone = label.size() == 1 || (label.size() > 1 && label[1] == ' ');
    double const scale = alone ? scale_of(label.front()) : 0.0;
    if (scale == 0.0) { return 1.0; }
    label = trimmed_line(label.substr(1));
    return scale;
}

double in_limits(double number, std::string_view cell, CellPlace const& place) {
    if (!(number > 0.0)) { refuse_cell(place, cell, "not above zero"); }
    if (number < least_value || number > largest_value) { refuse_cell(place, cell, "too large or too small"); }
    return number;
}

/// "10 s" of "10 \xC2\xB1 0.2 s", "10 +/- 0.2 s" and "10 (0.2) s"; the cell itself where it has no spread.
std::string without_spread(std::string_view cell, CellPlace const& place, ValueCells& cells) {
    for (std::string_view const mark : {"\xC2\xB1", "+/-", "+-", "("}) {
        auto const at = cell.find(mark);
        if (at == std::string_view::npos || at == 0) { continue; }
        CellNumber const value = cell_number(cell.substr(0, at), cells.marks);
        CellNumber const spread = cell_number(cell.substr(at + mark.size()), cells.marks);
        std::string_view unit = spread.rest;
        bool const bracket = mark == "(";
        bool const closed = !bracket || unit.starts_with(')');
        bool const numbers = value.fault == CellNumber::Fault::none && spread.fault == CellNumber::Fault::none;
        if (!numbers || !closed || spread.value < 0.0) { continue; }
        if (bracket) { unit = trimmed_line(unit.substr(1)); }
        if (unit == "%" && cells.share == 0.0) { unit = {}; } // a share of the value
        if (++cells.spreads == 1) { cells.first_spread = place.line; }
        std::string text{trimmed_line(cell.substr(0, at))};
        return value.rest.empty() && !unit.empty() ? text + " " + std::string{unit} : text;
    }
    return std::string{cell};
}

double time_cell(std::string_view cell, CellPlace const& place, ValueCells const& cells) {
    CellValue const value = cell_value(cell, CellMeasure::time, cells.marks);
    bool const short_clock = cells.hours && std::ranges::count(cell, ':') == 1 && clock_duration(cell);
    constexpr double minutes = 60.0;
    if (value.kind == CellValue::Kind::with_unit) { return value.value * (short_clock ? minutes : 1.0); }
    std::string_view rest;
    double const number = read_number(cell, place, cells.marks, rest);
    if (!rest.empty()) { refuse_cell(place, cell, "not a time", "write it like 180ms"); }
    return cells.header_unit.base(number);
}

double throughput_cell(double number, std::string_view label, CellPlace const& place, ValueCells& cells) {
    double const scale = label.empty() ? 1.0 : take_scale(label);
    if (cells.labelled && cells.label != label) {
        unreadable_error(place.text(), fmt::format("in {}", headroom::quoted(label)),
                         fmt::format("the rows above are in {}", headroom::quoted(cells.label)),
                         "write every row in one unit");
    }
    cells.label = label;
    cells.labelled = true;
    return number * scale;
}

} // namespace

double read_number(std::string_view cell, CellPlace const& place, NumberMarks const& marks, std::string_view& rest) {
    if (says_nothing(cell)) { refuse_cell(place, cell, "no number", "leave out rows without a measurement"); }
    CellNumber const number = cell_number(cell, marks);
    if (number.fault != CellNumber::Fault::none) {
        refuse_cell(place, cell, words_of(number.fault), std::string{hint_of(number.fault)});
    }
    rest = number.rest;
    return in_limits(number.value, cell, place);
}

bool counts_hours(std::string_view head) {
    bool const hours = find_caseless(head, "h:mm") != std::string_view::npos;
    return hours && find_caseless(head, "mm:ss") == std::string_view::npos;
}

namespace {

/// Length of the mark of a footnote at the end of a number: "*", "[1]", "[a]", and a raised number where it is no power of ten.
std::size_t footnote_length(std::string_view text) {
    for (std::string_view const mark : {"*", "\xE2\x80\xA0", "\xE2\x80\xA1", "\xC2\xA7"}) {
        if (text.ends_with(mark)) { return mark.size(); }
    }
    for (std::string_view const raised : {"\xC2\xB9", "\xC2\xB2", "\xC2\xB3"}) {
        bool const number = text.ends_with(raised) && text.size() > raised.size();
        std::string_view const before = number ? text.substr(0, text.size() - raised.size()) : text;
        if (number && is_decimal_digit(before.back()) && !before.ends_with("10")) { return raised.size(); }
    }
    auto const open = text.rfind('[');
    std::string_view const inside =
        open != text.npos && text.ends_with(']') ? text.substr(open + 1, text.size() - open - 2) : std::string_view{};
    bool const letter = inside.size() == 1 && lowered(inside[0]) >= 'a' && lowered(inside[0]) <= 'z';
    bool const digits = !inside.empty() && inside.size() < 3 && std::ranges::all_of(inside, is_decimal_digit);
    return letter || digits ? text.size() - open : 0;
}

/// Takes marks from a cell. Whether it had one of a footnote or of an approximation.
bool take_marks(std::string& cell, bool of_nodes) {
    std::string_view text = trimmed_line(cell);
    std::size_t const length = text.size();
    for (std::string_view const about : {"~", "\xE2\x89\x88", "\xE2\x88\xBC", "approx. ", "ca. "}) {
        bool const number = text.starts_with(about) && text.size() > about.size();
        std::string_view const rest = number ? trimmed_line(text.substr(about.size())) : text;
        if (number && is_decimal_digit(rest.front())) { text = rest; }
    }
    while (!text.empty() && is_decimal_digit(text.front())) {
        std::size_t const mark = footnote_length(text);
        if (mark == 0) { break; }
        text = trimmed_line(text.substr(0, text.size() - mark));
    }
    bool const marked = text.size() < length;
    auto const open = text.rfind('(');
    if (of_nodes && open != std::string_view::npos && open > 0 && text.ends_with(')')) {
        std::string_view const inside = text.substr(open + 1, text.size() - open - 2);
        std::string_view const label = cell_number(inside).rest;
        bool const nodes = std::ranges::any_of(std::array{"node", "nodes", "host", "hosts", "machine", "machines"},
                                               [&](std::string_view word) { return same_caseless(label, word); });
        if (nodes) { text = trimmed_line(text.substr(0, open)); }
    }
    cell = std::string{text};
    return marked;
}

} // namespace

std::vector<Issue> take_all_marks(CsvTable& csv, bool nodes) {
    std::vector<Issue> issues;
    for (CsvTable::Record& record : csv.records) {
        for (std::size_t i = 0; i < record.cells.size(); ++i) {
            std::string const written = record.cells[i];
            if (!take_marks(record.cells[i], nodes)) { continue; }
            count_issue(issues, Issue{.kind = "mark of a footnote or an approximation, not used",
                                      .count = 1,
                                      .line = record.line,
                                      .column = shortened(csv.header[i]),
                                      .text = shortened(written),
                                      .kept = true});
        }
    }
    return issues;
}

double read_count_cell(std::string_view cell, CellPlace const& place, NumberMarks const& marks, std::string& label,
                       double kilo) {
    std::string_view rest;
    double count = read_number(cell, place, marks, rest);
    for (std::string_view const times : {"x", "X", "\xC3\x97", "*"}) { // "2x8": nodes and their accelerators
        CellNumber const each = cell_number(rest.starts_with(times) ? rest.substr(times.size()) : std::string_view{});
        if (each.fault != CellNumber::Fault::none || !each.rest.empty()) { continue; }
        count *= each.value;
        rest = {};
    }
    if (rest.size() == 1 && scale_of(rest.front()) > 0.0) {
        count *= lowered(rest.front()) == 'k' ? kilo : scale_of(rest.front());
        rest = {};
    }
    if (is_count_label(rest)) {
        std::string word{rest};
        if (word.ends_with('s') || word.ends_with('S')) { word.pop_back(); }
        if (!label.empty() && !same_caseless(label, word)) {
            unreadable_error(place.text(), fmt::format("counts {}", headroom::quoted(rest)),
                             fmt::format("the rows above count {}", headroom::quoted(label)),
                             "write all rows in one unit");
        }
        label = word;
        rest = {};
    }
    if (!rest.empty() || count < 1.0 || count != std::floor(count) || count > largest_count) {
        refuse_cell(place, cell, "not a whole number of workers");
    }
    return count;
}

double read_parameter_cell(std::string_view cell, CellPlace const& place) {
    std::string_view rest;
    double const count = read_number(cell, place, {}, rest);
    if (!rest.empty() || count < 1.0 || count > largest_count) { refuse_cell(place, cell, "not a number from 1"); }
    return count;
}

double read_value_cell(std::string_view whole, CellPlace const& place, ValueCells& cells) {
    std::string const text = without_spread(whole, place, cells);
    std::string_view const cell = text;
    if (cells.share > 0.0) {
        std::string_view rest;
        double const number = read_number(cell, place, cells.marks, rest);
        if (!rest.empty() && rest != "%") { refuse_cell(place, cell, "not a share", "write it like 0.85 or 85%"); }
        constexpr double percent = 0.01;
        return in_limits(number * (rest.empty() ? cells.share : percent), cell, place);
    }
    bool const time = cells.quantity == ScalingQuantity::seconds || cells.quantity == ScalingQuantity::sync;
    if (time) { return in_limits(time_cell(cell, place, cells), cell, place); }
    std::string_view rest;
    double const number = read_number(cell, place, cells.marks, rest);
    if (cells.quantity == ScalingQuantity::throughput) {
        return in_limits(throughput_cell(number, rest, place, cells), cell, place);
    }
    bool const times = rest == "x" || rest == "X" || rest == "\xC3\x97";
    if (cells.quantity == ScalingQuantity::speedup && !rest.empty() && !times) {
        refuse_cell(place, cell, "not a speedup", "write it like 3.9 or 3.9x");
    }
    if (cells.quantity == ScalingQuantity::value && !rest.empty()) { refuse_cell(place, cell, "no plain number"); }
    return number;
}

} // namespace headroom::io
