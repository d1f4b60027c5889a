#include "tables/request_cells.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace headroom::io {
namespace {

constexpr double in_a_second = 1e9, longest_seconds = 9.1e9; // 2^63 nanoseconds are 9.22e9 seconds
constexpr std::int64_t second = 1'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
    auto const first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) { return {}; }
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Takes exactly `digits` digits off the front of a text, and the separator behind them.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_{text} {}

    std::optional<int> number(std::size_t digits) {
        if (rest_.size() < digits ||
            !std::all_of(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(digits), is_digit)) {
            return std::nullopt;
        }
        int value = 0;
        for (char const c : rest_.substr(0, digits)) { value = 10 * value + (c - '0'); }
        rest_.remove_prefix(digits);
        return value;
    }
    bool take(std::string_view any_of) {
        if (rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos) { return false; }
        rest_.remove_prefix(1);
        return true;
    }
    [[nodiscard]] char front() const { return rest_.empty() ? '\0' : rest_.front(); }
    [[nodiscard]] bool over() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_in(int year, int month) {
    constexpr std::array days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days.at(static_cast<std::size_t>(month - 1)) + (month == 2 && is_leap(year) ? 1 : 0);
}

/// Days since 1970-01-01 of a date of the Gregorian calendar: years are counted from March, so that a leap day is the
/// last one.
std::int64_t days_of(int year, int month, int day) {
    std::int64_t const y = month <= 2 ? year - 1 : year;
    std::int64_t const era = (y >= 0 ? y : y - 399) / 400;
    std::int64_t const of_era = y - era * 400;
    std::int64_t const of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

/// ".6805900": nanoseconds, digits behind the ninth dropped.
std::optional<std::int64_t> fraction(Reader& reader) {
    if (!reader.take(".,")) { return 0; }
    std::int64_t value = 0, weight = second;
    bool any = false;
    while (is_digit(reader.front())) {
        weight /= 10;
        value += weight * *reader.number(1);
        any = true;
    }
    return any ? std::optional{value} : std::nullopt;
}

/// "Z", "+02:00", "+0200", "UTC" apart: seconds east of Greenwich; none stated counts as 0.
std::optional<std::int64_t> zone(Reader& reader) {
    if (reader.over()) { return 0; }
    reader.take(" ");
    if (reader.take("Zz")) { return reader.over() ? std::optional<std::int64_t>{0} : std::nullopt; }
    bool const west = reader.front() == '-';
    if (!reader.take("+-")) { return std::nullopt; }
    auto const hours = reader.number(2);
    reader.take(":");
    auto const minutes = reader.over() ? std::optional{0} : reader.number(2);
    if (!hours || !minutes || *hours > 23 || *minutes > 59 || !reader.over()) { return std::nullopt; }
    std::int64_t const east = std::int64_t{*hours} * 3600 + *minutes * 60;
    return west ? -east : east;
}

std::optional<std::int64_t> date_from(std::string_view text) {
    Reader reader{text};
    auto const year = reader.number(4);
    if (!year || !reader.take("-/")) { return std::nullopt; }
    auto const month = reader.number(2);
    if (!month || !reader.take("-/")) { return std::nullopt; }
    auto const day = reader.number(2);
    if (!day || *year < 1700 || *year > 2250 || *month < 1 || *month > 12 || *day < 1 ||
        *day > days_in(*year, *month)) {
        return std::nullopt;
    }
    if (!reader.take("Tt ")) { return std::nullopt; }
    auto const hour = reader.number(2);
    if (!hour || !reader.take(":")) { return std::nullopt; }
    auto const minute = reader.number(2);
    if (!minute) { return std::nullopt; }
    auto const seconds = reader.take(":") ? reader.number(2) : std::optional{0};
    if (!seconds || *hour > 23 || *minute > 59 || *seconds > 60) { return std::nullopt; }
    auto const below = fraction(reader);
    auto const east = below ? zone(reader) : std::nullopt;
    if (!east) { return std::nullopt; }
    std::int64_t const whole =
        days_of(*year, *month, *day) * 86'400 + std::int64_t{*hour} * 3600 + *minute * 60 + *seconds - *east;
    return whole * second + *below;
}

bool looks_like_date(std::string_view text) {
    return text.size() >= 10 && std::all_of(text.begin(), text.begin() + 4, is_digit) &&
           (text[4] == '-' || text[4] == '/');
}

} // namespace

std::optional<TimeCell> time_from(std::string_view text, double unit_seconds) {
    std::string_view const cell = trimmed(text);
    if (looks_like_date(cell)) {
        auto const found = date_from(cell);
        return found ? std::optional{TimeCell{*found, TimeText::date}} : std::nullopt;
    }
    double number = 0.0;
    auto const [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    if (error != std::errc{} || !std::isfinite(number)) { return std::nullopt; }
    std::string_view const rest = trimmed(cell.substr(static_cast<std::size_t>(stop - cell.data())));
    auto const unit = rest.empty() ? std::optional{unit_seconds} : unit_of_time(rest);
    if (!unit || std::abs(number * *unit) > longest_seconds) { return std::nullopt; }
    return TimeCell{std::llround(number * *unit * in_a_second), rest.empty() ? TimeText::bare : TimeText::with_unit};
}

std::optional<double> tokens_from(std::string_view text) {
    std::string_view const cell = trimmed(text);
    double number = 0.0;
    auto const [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    bool const whole = error == std::errc{} && stop == cell.data() + cell.size();
    if (!whole || !(number >= 0.0) || !std::isfinite(number) || number != std::floor(number)) { return std::nullopt; }
    return number;
}

std::optional<double> unit_of_time(std::string_view name) {
    constexpr std::array units{
        std::pair{"ns", 1e-9},      std::pair{"us", 1e-6},          std::pair{"ms", 1e-3},
        std::pair{"s", 1.0},        std::pair{"sec", 1.0},          std::pair{"secs", 1.0},
        std::pair{"second", 1.0},   std::pair{"seconds", 1.0},      std::pair{"min", 60.0},
        std::pair{"minutes", 60.0}, std::pair{"h", 3600.0},         std::pair{"hours", 3600.0},
        std::pair{"msec", 1e-3},    std::pair{"millis", 1e-3},      std::pair{"milliseconds", 1e-3},
        std::pair{"usec", 1e-6},    std::pair{"micros", 1e-6},      std::pair{"microseconds", 1e-6},
        std::pair{"nanos", 1e-9},   std::pair{"nanoseconds", 1e-9},
    };
    std::string lower{trimmed(name)};
    std::ranges::transform(lower, lower.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    for (auto const& [unit, seconds] : units) {
        if (lower == unit) { return seconds; }
    }
    return std::nullopt;
}

NamedColumn named_column(std::string_view header) {
    std::string_view name = trimmed(header);
    NamedColumn column;
    auto const cut = [&](std::size_t at, std::string_view unit) {
        if (at == 0 || !unit_of_time(unit)) { return; }
        column.unit = std::string{trimmed(unit)};
        name = name.substr(0, at);
    };
    if (auto const open = name.find_last_of("([");
        open != std::string_view::npos && (name.ends_with(')') || name.ends_with(']'))) {
        cut(open, name.substr(open + 1, name.size() - open - 2));
    } else if (auto const at = name.find_last_of("_ -"); at != std::string_view::npos) {
        cut(at, name.substr(at + 1));
    }
    for (char const c : name) {
        if (is_digit(c) || (c >= 'a' && c <= 'z')) { column.name += c; }
        if (c >= 'A' && c <= 'Z') { column.name += static_cast<char>(c - 'A' + 'a'); }
    }
    return column;
}

} // namespace headroom::io
