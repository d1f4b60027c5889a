#include "tables/scaling_cells.hpp"

#include "records/record.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace headroom::io {
namespace {

/// Squares and fourth powers of values must stay numbers.
constexpr double least_value = 1e-40, largest_value = 1e40, largest_count = 1e12;

std::string_view trimmed(std::string_view text) {
    auto const first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) { return {}; }
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

[[noreturn]] void refuse(CellPlace const& place, std::string_view cell, std::string_view what, std::string hint = {}) {
    unreadable_error(place.text(), fmt::format("{} is {}", headroom::quoted(cell), what), {}, std::move(hint));
}

struct TimeUnit {
    std::string_view name;
    double seconds;
};
constexpr std::array<TimeUnit, 24> time_units{{
    {"s", 1.0},        {"sec", 1.0},          {"secs", 1.0},          {"second", 1.0},        {"seconds", 1.0},
    {"ms", 1e-3},      {"msec", 1e-3},        {"millisecond", 1e-3},  {"milliseconds", 1e-3}, {"us", 1e-6},
    {"usec", 1e-6},    {"microsecond", 1e-6}, {"microseconds", 1e-6}, {"\xC2\xB5s", 1e-6},    {"ns", 1e-9},
    {"nsec", 1e-9},    {"nanosecond", 1e-9},  {"nanoseconds", 1e-9},  {"min", 60.0},          {"minute", 60.0},
    {"minutes", 60.0}, {"h", 3600.0},         {"hour", 3600.0},       {"hours", 3600.0},
}};

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
    label = trimmed(label.substr(1));
    return scale;
}

double time_cell(double number, std::string_view unit, std::string_view cell, CellPlace const& place,
                 double header_unit) {
    if (unit.empty()) { return number * header_unit; }
    auto const seconds = seconds_in(unit);
    if (!seconds) { refuse(place, cell, "not a time", "write it like 180ms"); }
    return number * *seconds;
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

std::string CellPlace::text() const { return fmt::format("{}:{}: {}", file, line, headroom::quoted(column)); }

std::optional<double> seconds_in(std::string_view unit) {
    for (TimeUnit const& one : time_units) {
        if (one.name == unit) { return one.seconds; }
    }
    return std::nullopt;
}

double read_number(std::string_view cell, CellPlace const& place, std::string_view& rest) {
    std::string_view const text = trimmed(cell);
    double number = 0.0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty()) { refuse(place, cell, "no number", "leave out rows without a measurement"); }
    if (error == std::errc::invalid_argument) { refuse(place, cell, "no number"); }
    bool const usable = error == std::errc{} && number >= least_value && number <= largest_value;
    if (!usable) { refuse(place, cell, number > 0.0 ? "too large or too small" : "not above zero"); }
    rest = trimmed(text.substr(static_cast<std::size_t>(stop - text.data())));
    return number;
}

double read_count_cell(std::string_view cell, CellPlace const& place) {
    std::string_view rest;
    double count = read_number(cell, place, rest);
    if (rest.size() == 1 && scale_of(rest.front()) > 0.0) {
        count *= scale_of(rest.front());
        rest = {};
    }
    if (!rest.empty() || count < 1.0 || count != std::floor(count) || count > largest_count) {
        refuse(place, cell, "not a whole number of workers");
    }
    return count;
}

double read_parameter_cell(std::string_view cell, CellPlace const& place) {
    std::string_view rest;
    double const count = read_number(cell, place, rest);
    if (!rest.empty() || count < 1.0 || count > largest_count) { refuse(place, cell, "not a number from 1"); }
    return count;
}

double read_value_cell(std::string_view cell, CellPlace const& place, ValueCells& cells) {
    std::string_view rest;
    double const number = read_number(cell, place, rest);
    double value = number;
    switch (cells.quantity) {
    case ScalingQuantity::seconds:
    case ScalingQuantity::sync: value = time_cell(number, rest, cell, place, cells.header_unit); break;
    case ScalingQuantity::throughput: value = throughput_cell(number, rest, place, cells); break;
    case ScalingQuantity::speedup:
        if (!rest.empty() && rest != "x" && rest != "X" && rest != "\xC3\x97") {
            refuse(place, cell, "not a speedup", "write it like 3.9 or 3.9x");
        }
        break;
    case ScalingQuantity::value:
        if (!rest.empty()) { refuse(place, cell, "no plain number"); }
        break;
    }
    if (!(value >= least_value && value <= largest_value)) { refuse(place, cell, "too large or too small"); }
    return value;
}

} // namespace headroom::io
