#include "latencies/latency_unit.hpp"

#include "logs/log_lines.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace headroom::io {
namespace {

struct Named {
    std::string_view name; ///< in lower case
    std::string_view unit;
    double factor;
    int decimals;
};
constexpr double minute = 60.0, hour = 3600.0;
constexpr std::array units{
    Named{"s", "s", 1.0, 0},
    Named{"sec", "s", 1.0, 0},
    Named{"secs", "s", 1.0, 0},
    Named{"second", "s", 1.0, 0},
    Named{"seconds", "s", 1.0, 0},
    Named{"ms", "ms", 1.0, 3},
    Named{"msec", "ms", 1.0, 3},
    Named{"msecs", "ms", 1.0, 3},
    Named{"millis", "ms", 1.0, 3},
    Named{"millisecond", "ms", 1.0, 3},
    Named{"milliseconds", "ms", 1.0, 3},
    Named{"us", "us", 1.0, 6},
    Named{"usec", "us", 1.0, 6},
    Named{"usecs", "us", 1.0, 6},
    Named{"micros", "us", 1.0, 6},
    Named{"microsecond", "us", 1.0, 6},
    Named{"microseconds", "us", 1.0, 6},
    Named{"\xC2\xB5s", "us", 1.0, 6},
    Named{"\xCE\xBCs", "us", 1.0, 6},
    Named{"ns", "ns", 1.0, 9},
    Named{"nsec", "ns", 1.0, 9},
    Named{"nsecs", "ns", 1.0, 9},
    Named{"nanos", "ns", 1.0, 9},
    Named{"nanosecond", "ns", 1.0, 9},
    Named{"nanoseconds", "ns", 1.0, 9},
    Named{"m", "min", minute, 0},
    Named{"min", "min", minute, 0},
    Named{"mins", "min", minute, 0},
    Named{"minute", "min", minute, 0},
    Named{"minutes", "min", minute, 0},
    Named{"h", "h", hour, 0},
    Named{"hour", "h", hour, 0},
    Named{"hours", "h", hour, 0},
};

constexpr std::array says_nothing{std::string_view{""},     std::string_view{"-"},   std::string_view{"--"},
                                  std::string_view{"n/a"},  std::string_view{"na"},  std::string_view{"none"},
                                  std::string_view{"null"}, std::string_view{"nil"}, std::string_view{"#n/a"}};

bool same_caseless(std::string_view text, std::string_view lower) {
    return std::ranges::equal(text, lower, [](char a, char b) { return lowered(a) == b; });
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number at the start of a text; 0 where there is none.
std::size_t read_number(std::string_view text, double& value) {
    std::size_t const sign = text.starts_with('+') || text.starts_with('-') ? 1 : 0;
    std::string_view const digits = text.substr(sign);
    bool const begins = !digits.empty() && (is_digit(digits[0]) || (digits[0] == '.' && digits.size() > 1));
    if (!begins) { return 0; }
    auto const [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    auto const length = static_cast<std::size_t>(stop - digits.data());
    if (error == std::errc::result_out_of_range) {
        // A number too small for a double is zero; one too large is none of ours either way.
        bool const small = digits.substr(0, length).find("e-") != std::string_view::npos ||
                           digits.substr(0, length).find("E-") != std::string_view::npos || digits[0] == '0' ||
                           digits[0] == '.';
        value = small ? 0.0 : std::numeric_limits<double>::infinity();
    } else if (error != std::errc{}) {
        return 0;
    }
    if (text.starts_with('-')) { value = -value; }
    return sign + length;
}

std::string_view without_sign(std::string_view text) {
    if (text.starts_with('+') || text.starts_with('-')) { text.remove_prefix(1); }
    return text;
}

} // namespace

double LatencyUnit::seconds(double number) const {
    constexpr std::array powers{1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    return number * factor / powers.at(static_cast<std::size_t>(decimals));
}

std::optional<LatencyUnit> latency_unit(std::string_view name) {
    auto const unit = std::ranges::find_if(units, [&](Named const& one) { return same_caseless(name, one.name); });
    if (unit == units.end()) { return std::nullopt; }
    return LatencyUnit{std::string{unit->unit}, unit->factor, unit->decimals};
}

LatencyUnit asked_unit(std::string const& name, std::string_view where) {
    if (name == "1") { return {.name = "1"}; }
    if (auto unit = latency_unit(name)) { return *unit; }
    usage_error(where, "unknown unit " + headroom::quoted(name), {},
                "one of s, ms, us, ns, min, h, and 1 for plain numbers");
}

std::optional<double> decimal_number(std::string_view text) {
    double value = 0.0;
    std::string_view const trimmed = trimmed_line(text);
    std::size_t const length = read_number(trimmed, value);
    if (length == 0 || length != trimmed.size() || !std::isfinite(value)) { return std::nullopt; }
    return value;
}

std::optional<double> printed_duration(std::string_view text) {
    text = trimmed_line(text);
    double const sign = text.starts_with('-') ? -1.0 : 1.0;
    double total = 0.0;
    bool any = false;
    text = without_sign(text);
    while (!text.empty()) {
        double number = 0.0;
        std::size_t const length = text[0] == '+' || text[0] == '-' ? 0 : read_number(text, number);
        if (length == 0) { return std::nullopt; }
        text = trimmed_line(text.substr(length));
        auto const end = std::ranges::find_if(text, [](char c) { return is_digit(c) || c == '.' || c == ' '; });
        std::string_view const name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
        auto const unit = latency_unit(name);
        if (!unit) { return std::nullopt; }
        total += unit->seconds(number);
        any = true;
        text = trimmed_line(text.substr(name.size()));
    }
    return any ? std::optional{sign * total} : std::nullopt;
}

LatencyCell latency_cell(std::string_view cell) {
    using Kind = LatencyCell::Kind;
    cell = trimmed_line(cell);
    for (std::string_view const word : says_nothing) {
        if (same_caseless(cell, word)) { return {.kind = Kind::empty}; }
    }
    std::string_view const bare = without_sign(cell);
    if (same_caseless(bare, "nan")) { return {.kind = Kind::not_a_number}; }
    if (same_caseless(bare, "inf") || same_caseless(bare, "infinity")) { return {.kind = Kind::infinite}; }
    double value = 0.0;
    std::size_t const length = read_number(cell, value);
    if (length == 0) { return {}; }
    if (length == cell.size()) {
        return std::isfinite(value) ? LatencyCell{Kind::bare, value} : LatencyCell{.kind = Kind::infinite};
    }
    if (auto const seconds = printed_duration(cell)) { return {Kind::with_unit, *seconds}; }
    return {};
}

} // namespace headroom::io
