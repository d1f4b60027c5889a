#include "tables/numbers.hpp"

#include "tables/cell_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace headroom::io {
namespace {

using Meaning = NumberMarks::Meaning;
using NumberFault = CellNumber::Fault;

/// Marks that only ever part groups: no-break, thin and narrow spaces, apostrophes, underscores.
constexpr std::array<std::string_view, 7> group_marks{
    " ", "'", "_", "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x89", "\xE2\x80\x99"};

constexpr std::size_t group_digits = 3;

/// Length of a mark of groups at the start of a text, where a digit follows; 0 when there is none.
std::size_t group_mark(std::string_view text) {
    for (std::string_view const mark : group_marks) {
        bool const here = text.starts_with(mark) && text.size() > mark.size();
        if (here && is_decimal_digit(text[mark.size()])) { return mark.size(); }
    }
    return 0;
}

/// The digits and marks that a text begins with, behind its sign; marks of groups are written '_'.
struct Spelling {
    std::string text;
    std::size_t length = 0; ///< in the cell, the sign among it
    std::size_t commas = 0, points = 0, groups = 0;
};

Spelling spelling_of(std::string_view cell) {
    Spelling found;
    bool const sign = cell.starts_with('+') || cell.starts_with('-');
    std::size_t at = sign ? 1 : 0;
    while (at < cell.size()) {
        char const c = cell[at];
        bool const digit_behind = at + 1 < cell.size() && is_decimal_digit(cell[at + 1]);
        std::size_t const mark = found.text.empty() ? 0 : group_mark(cell.substr(at));
        if (is_decimal_digit(c)) {
            found.text += c;
        } else if (c == '.' || (c == ',' && digit_behind)) {
            found.text += c;
            ++(c == '.' ? found.points : found.commas);
        } else if (mark > 0) {
            found.text += '_';
            ++found.groups;
            at += mark - 1;
        } else {
            break;
        }
        ++at;
    }
    found.length = at;
    return found;
}

/// Whether digits between marks are groups: one to three, then three each.
bool is_grouped(std::string_view digits, char mark) {
    std::size_t group = 0;
    bool first = true;
    for (std::size_t i = 0; i <= digits.size(); ++i) {
        if (i < digits.size() && digits[i] != mark) {
            if (!is_decimal_digit(digits[i])) { return false; }
            ++group;
            continue;
        }
        if (first ? group < 1 || group > group_digits : group != group_digits) { return false; }
        first = false;
        group = 0;
    }
    return true;
}

/// "1,500": a thousand five hundred, or one and a half. Not "0,500", "10,5" or "1500,250".
bool may_be_either(std::string_view digits, char mark) { return is_grouped(digits, mark) && digits.front() != '0'; }

/// Meaning of a number's marks, as far as one mark by itself or two kinds of marks together show it.
void show(Spelling const& number, NumberMarks& shown) {
    if (number.text.empty()) { return; }
    if (number.commas > 0 && number.points > 0) {
        bool const comma_last = number.text.rfind(',') > number.text.rfind('.');
        char const last = comma_last ? ',' : '.', first = comma_last ? '.' : ',';
        if (!is_grouped(std::string_view{number.text}.substr(0, number.text.find(last)), first)) { return; }
        if ((comma_last ? number.commas : number.points) != 1) { return; }
        shown.comma = comma_last ? Meaning::decimal : Meaning::group;
        shown.point = comma_last ? Meaning::group : Meaning::decimal;
        return;
    }
    for (char const mark : {',', '.'}) {
        std::size_t const count = mark == ',' ? number.commas : number.points;
        Meaning& meaning = mark == ',' ? shown.comma : shown.point;
        if (count > 1 && is_grouped(number.text, mark)) { meaning = Meaning::group; }
        bool const grouped = number.groups > 0; // "1 500,250"
        if (count == 1 && (grouped || !may_be_either(number.text, mark))) { meaning = Meaning::decimal; }
    }
}

/// The marks' meaning in one number; mixed: it cannot be known.
NumberMarks meaning_in(Spelling const& number, NumberMarks const& marks) {
    NumberMarks here;
    show(number, here);
    auto const settle = [](Meaning& shown, Meaning of_column, Meaning otherwise) {
        if (shown == Meaning::unknown) { shown = of_column == Meaning::unknown ? otherwise : of_column; }
        if (of_column == Meaning::mixed || (of_column != Meaning::unknown && shown != of_column)) {
            shown = Meaning::mixed;
        }
    };
    settle(here.comma, marks.comma, marks.comma_groups ? Meaning::group : Meaning::mixed);
    settle(here.point, marks.point, Meaning::decimal);
    return here;
}

/// The number in the spelling of programs; empty where its groups are uneven.
std::string plain_spelling(Spelling const& number, NumberMarks const& marks) {
    char const decimal = number.commas > 0 && marks.comma == Meaning::decimal ? ',' : '.';
    bool const fraction = decimal == ',' || (number.points > 0 && marks.point == Meaning::decimal);
    std::size_t const cut = fraction ? number.text.find(decimal) : std::string::npos;
    std::string whole = number.text.substr(0, cut);
    std::string const behind = cut == std::string::npos ? "" : number.text.substr(cut + 1);
    if (behind.find_first_of(",._") != std::string::npos) { return {}; }
    char const mark = number.groups > 0                                    ? '_'
                      : decimal == ','                                     ? '.'
                      : marks.comma == Meaning::group && number.commas > 0 ? ','
                                                                           : '.';
    if (whole.find_first_of(",._") != std::string::npos && !is_grouped(whole, mark)) { return {}; }
    std::erase(whole, mark);
    return whole + (fraction ? "." : "") + behind;
}

/// Length of an exponent at the start of a text: "e-7".
std::size_t exponent_of(std::string_view text) {
    if (text.empty() || lowered(text[0]) != 'e') { return 0; }
    std::size_t at = text.size() > 1 && (text[1] == '+' || text[1] == '-') ? 2 : 1;
    std::size_t const digits = at;
    while (at < text.size() && is_decimal_digit(text[at])) { ++at; }
    return at > digits ? at : 0;
}

/// Value and rounding of digits with a point and an exponent; no number where it is none.
CellNumber plain_number(std::string_view text) {
    CellNumber number;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
    if (error == std::errc::invalid_argument) { return {.fault = NumberFault::no_number}; }
    std::string_view const digits = text.substr(0, static_cast<std::size_t>(stop - text.data()));
    auto const point = digits.find('.'), exponent = std::min(digits.find_first_of("eE"), digits.size());
    double power = 0.0;
    if (exponent < digits.size()) {
        std::string_view shift = digits.substr(exponent + 1);
        if (shift.starts_with('+')) { shift.remove_prefix(1); }
        std::from_chars(shift.data(), shift.data() + shift.size(), power);
    }
    if (error == std::errc::result_out_of_range) { // too small for a double is zero, too large is infinite
        bool const small = power < 0.0 || (exponent == digits.size() && (digits[0] == '0' || digits[0] == '.'));
        number.value = small ? 0.0 : std::numeric_limits<double>::infinity();
    }
    if (point != std::string_view::npos) { power -= static_cast<double>(exponent - point - 1); }
    constexpr std::array small{0.5, 0.5e-1, 0.5e-2, 0.5e-3, 0.5e-4, 0.5e-5, 0.5e-6, 0.5e-7, 0.5e-8, 0.5e-9};
    auto const index = static_cast<std::size_t>(std::clamp(-power, 0.0, 100.0));
    number.half_unit = power <= 0.0 && index < small.size() ? small.at(index) : 0.5 * std::pow(10.0, power);
    return number;
}

/// Digits with at most one point and nothing behind them: most cells.
bool is_plain(std::string_view text, NumberMarks const& marks) {
    std::size_t points = 0;
    for (char const c : text) {
        points += c == '.' ? 1 : 0;
        if (!is_decimal_digit(c) && c != '.') { return false; }
    }
    bool const point_is_decimal = marks.point == Meaning::unknown || marks.point == Meaning::decimal;
    return points < text.size() && (points == 0 || (points == 1 && point_is_decimal));
}

/// Two digits below 60 at the start of a text, taken off it.
std::optional<double> take_sixtieth(std::string_view& text) {
    bool const two = text.size() >= 2 && text[0] >= '0' && text[0] < '6' && is_decimal_digit(text[1]);
    if (!two) { return std::nullopt; }
    double const value = 10.0 * (text[0] - '0') + (text[1] - '0');
    text.remove_prefix(2);
    return value;
}

std::optional<double> take_count(std::string_view& text, char behind) {
    std::size_t digits = 0;
    while (digits < text.size() && is_decimal_digit(text[digits])) { ++digits; }
    constexpr std::size_t most_digits = 9;
    if (digits == 0 || digits > most_digits || digits == text.size() || text[digits] != behind) { return std::nullopt; }
    double value = 0.0;
    std::from_chars(text.data(), text.data() + digits, value);
    text.remove_prefix(digits + 1);
    return value;
}

} // namespace

void NumberMarks::learn(std::string_view cell) {
    Spelling const number = spelling_of(trimmed_line(cell));
    if (number.commas + number.points == 0) { return; }
    NumberMarks shown;
    show(number, shown);
    learn(shown);
}

void NumberMarks::learn_count(std::string_view cell) {
    Spelling const number = spelling_of(trimmed_line(cell));
    if (number.commas > 0 && is_grouped(number.text, ',')) { learn(NumberMarks{.comma = Meaning::group}); }
}

void NumberMarks::learn_small(std::string_view cell) {
    Spelling const number = spelling_of(trimmed_line(cell));
    constexpr std::size_t three = 3;
    if (number.commas + number.points == 0 && number.text.size() >= three) { // "898": "1,004" before it has a group
        return learn(NumberMarks{.comma = Meaning::group});
    }
    bool const either =
        number.commas == 1 && is_grouped(number.text, ','); // "2,480" and "11,900" may be losses in thousands
    if (number.commas + number.points != 1 || number.groups > 0 || either) { return; }
    learn(number.commas == 1 ? NumberMarks{.comma = Meaning::decimal} : NumberMarks{.point = Meaning::decimal});
}

void NumberMarks::learn(NumberMarks const& others) {
    auto const add = [](Meaning& mine, Meaning seen) {
        if (seen == Meaning::unknown || seen == mine) { return; }
        mine = mine == Meaning::unknown ? seen : Meaning::mixed;
    };
    add(comma, others.comma);
    add(point, others.point);
}

NumberMarks NumberMarks::completed(NumberMarks const& table) const {
    NumberMarks marks = *this;
    auto const fill = [](Meaning& mine, Meaning other) {
        if (mine == Meaning::unknown && other != Meaning::mixed) { mine = other; }
    };
    auto const opposite = [](Meaning other) { return other == Meaning::decimal ? Meaning::group : Meaning::unknown; };
    fill(marks.comma, opposite(point)); // a number has one decimal mark
    fill(marks.point, opposite(comma));
    fill(marks.comma, table.comma);
    fill(marks.point, table.point);
    fill(marks.comma, opposite(table.point));
    fill(marks.point, opposite(table.comma));
    return marks;
}

CellNumber cell_number(std::string_view text, NumberMarks const& marks) {
    text = trimmed_line(text);
    if (is_plain(text, marks)) { return plain_number(text); }
    Spelling const number = spelling_of(text);
    bool const digits = std::ranges::any_of(number.text, is_decimal_digit);
    if (!digits) { return {.rest = text, .fault = NumberFault::no_number}; }
    NumberMarks const here = meaning_in(number, marks);
    bool const unclear =
        (number.commas > 0 && here.comma == Meaning::mixed) || (number.points > 0 && here.point == Meaning::mixed);
    std::string_view const rest = text.substr(number.length);
    if (unclear) { return {.rest = trimmed_line(rest), .fault = NumberFault::ambiguous_mark}; }
    std::string plain = plain_spelling(number, here);
    if (plain.empty()) { return {.rest = trimmed_line(rest), .fault = NumberFault::uneven_groups}; }
    std::size_t const exponent = exponent_of(rest);
    plain += rest.substr(0, exponent);
    CellNumber found = plain_number(plain);
    if (text.starts_with('-')) { found.value = -found.value; }
    found.rest = trimmed_line(rest.substr(exponent));
    return found;
}

bool is_plain_number(std::string_view text) {
    CellNumber const number = cell_number(text);
    return number.fault == CellNumber::Fault::none && number.rest.empty();
}

std::optional<double> printed_duration(std::string_view text, NumberMarks const& marks) {
    text = trimmed_line(text);
    double const sign = text.starts_with('-') ? -1.0 : 1.0;
    double total = 0.0;
    bool any = false;
    if (text.starts_with('+') || text.starts_with('-')) { text.remove_prefix(1); }
    while (!text.empty()) {
        if (text[0] == '+' || text[0] == '-') { return std::nullopt; }
        CellNumber const number = cell_number(text, marks);
        if (number.fault != NumberFault::none) { return std::nullopt; }
        auto const end =
            std::ranges::find_if(number.rest, [](char c) { return is_decimal_digit(c) || c == '.' || c == ' '; });
        std::string_view const name = number.rest.substr(0, static_cast<std::size_t>(end - number.rest.begin()));
        auto const unit = time_unit(name);
        if (!unit) { return std::nullopt; }
        total += unit->base(number.value);
        any = true;
        text = trimmed_line(number.rest.substr(name.size()));
    }
    return any ? std::optional{sign * total} : std::nullopt;
}

std::optional<double> clock_duration(std::string_view text) {
    text = trimmed_line(text);
    double const days = take_count(text, '-').value_or(0.0);
    auto const first = take_count(text, ':');
    auto const second = first ? take_sixtieth(text) : std::nullopt;
    if (!second) { return std::nullopt; }
    double total = 60.0 * *first + *second;
    if (text.starts_with(':')) {
        text.remove_prefix(1);
        auto const third = take_sixtieth(text);
        if (!third) { return std::nullopt; }
        total = 60.0 * total + *third;
    } else if (days > 0.0) {
        return std::nullopt;
    }
    constexpr double day = 86'400.0;
    total += day * days;
    if (text.empty()) { return total; }
    if (text.size() < 2 || (text[0] != '.' && text[0] != ',')) { return std::nullopt; }
    double fraction = 0.0;
    std::string const digits = "0." + std::string{text.substr(1)};
    auto const [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), fraction);
    bool const whole = error == std::errc{} && stop == digits.data() + digits.size();
    bool const plain = digits.find_first_not_of("0123456789.") == std::string::npos;
    return whole && plain ? std::optional{total + fraction} : std::nullopt;
}

CellValue cell_value(std::string_view cell, CellMeasure measure, NumberMarks const& marks) {
    using Kind = CellValue::Kind;
    cell = trimmed_line(cell);
    bool const plain = is_plain(cell, marks);
    if (!plain && says_nothing(cell)) { return {.kind = Kind::empty}; }
    std::string_view bare = plain ? std::string_view{} : cell;
    if (bare.starts_with('+') || bare.starts_with('-')) { bare.remove_prefix(1); }
    if (same_caseless(bare, "nan")) { return {.kind = Kind::not_a_number}; }
    if (same_caseless(bare, "inf") || same_caseless(bare, "infinity")) { return {.kind = Kind::infinite}; }
    CellNumber const number = plain ? plain_number(cell) : cell_number(cell, marks);
    if (number.fault != NumberFault::none) { return {.fault = number.fault}; }
    if (number.rest.empty()) {
        if (!std::isfinite(number.value)) { return {.kind = Kind::infinite}; }
        return {.kind = Kind::bare, .value = number.value, .half_unit = number.half_unit};
    }
    if (auto const unit = unit_named(measure, number.rest)) {
        return {.kind = Kind::with_unit, .value = unit->base(number.value), .half_unit = unit->base(number.half_unit)};
    }
    if (measure != CellMeasure::time) { return {}; }
    auto seconds = printed_duration(cell, marks);
    if (!seconds) { seconds = clock_duration(cell); }
    return seconds ? CellValue{.kind = Kind::with_unit, .value = *seconds} : CellValue{};
}

std::string_view words_of(NumberFault fault) {
    if (fault == NumberFault::uneven_groups) { return "no number: its groups of digits are uneven"; }
    return fault == NumberFault::ambiguous_mark ? "ambiguous: its mark may part decimals or groups of digits"
                                                : "no number";
}

std::string_view hint_of(NumberFault fault) {
    return fault == NumberFault::ambiguous_mark ? "write it without groups, and with a decimal point" : "";
}

std::optional<double> decimal_number(std::string_view text) {
    CellNumber const number = cell_number(text);
    bool const whole = number.fault == NumberFault::none && number.rest.empty() && std::isfinite(number.value);
    return whole ? std::optional{number.value} : std::nullopt;
}

std::optional<PrintedNumber> printed_number(std::string_view word) {
    CellNumber const number = cell_number(word);
    bool const whole = number.fault == NumberFault::none && number.rest.empty() && std::isfinite(number.value);
    return whole ? std::optional{PrintedNumber{number.value, number.half_unit}} : std::nullopt;
}

std::optional<int> printed_count(std::string_view word) {
    std::string_view const text = trimmed_line(word);
    int count = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    bool const whole = error == std::errc{} && stop == text.data() + text.size() && count >= 0;
    return whole ? std::optional{count} : std::nullopt;
}

} // namespace headroom::io
