#include "tables/time_stamp.hpp"

#include "tables/cell_text.hpp"
#include "tables/numbers.hpp"

#include <chrono>
#include <cmath>

namespace headroom::io {
namespace {

constexpr std::int64_t nano = 1'000'000'000;

/// Exactly so many digits.
bool take_digits(std::string_view& text, std::size_t count, int& value) {
    if (text.size() < count) { return false; }
    value = 0;
    for (char const c : text.substr(0, count)) {
        if (!is_decimal_digit(c)) { return false; }
        value = 10 * value + (c - '0');
    }
    text.remove_prefix(count);
    return true;
}

bool take_mark(std::string_view& text, std::string_view marks) {
    if (text.empty() || marks.find(text[0]) == std::string_view::npos) { return false; }
    text.remove_prefix(1);
    return true;
}

/// Nanoseconds of digits behind a point; digits behind the ninth are below one.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
    std::int64_t unit = nano, sum = 0;
    if (text.empty() || !is_decimal_digit(text[0])) { return std::nullopt; }
    while (!text.empty() && is_decimal_digit(text[0])) {
        unit /= 10;
        sum += unit * (text[0] - '0');
        text.remove_prefix(1);
    }
    return sum;
}

/// Seconds east of Greenwich: "", "Z", "+02:00", "-0530", "+02".
std::optional<std::int64_t> offset(std::string_view text) {
    text = trimmed_line(text);
    if (text.empty() || text == "Z" || text == "z" || text == "UTC") { return 0; }
    std::int64_t const sign = text[0] == '-' ? -1 : 1;
    int hours = 0, minutes = 0;
    if (!take_mark(text, "+-") || !take_digits(text, 2, hours)) { return std::nullopt; }
    static_cast<void>(take_mark(text, ":"));
    if (!text.empty() && !take_digits(text, 2, minutes)) { return std::nullopt; }
    if (!text.empty() || hours > 23 || minutes > 59) { return std::nullopt; }
    return sign * (3600 * std::int64_t{hours} + 60 * std::int64_t{minutes});
}

} // namespace

std::optional<std::int64_t> date_and_time(std::string_view text) {
    text = trimmed_line(text);
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    bool const dated = take_digits(text, 4, year) && take_mark(text, "-/") && take_digits(text, 2, month) &&
                       take_mark(text, "-/") && take_digits(text, 2, day);
    if (!dated || !take_mark(text, "Tt ")) { return std::nullopt; }
    bool const timed = take_digits(text, 2, hour) && take_mark(text, ":") && take_digits(text, 2, minute);
    if (!timed) { return std::nullopt; }
    std::optional<std::int64_t> fraction = 0;
    if (take_mark(text, ":")) {
        if (!take_digits(text, 2, second)) { return std::nullopt; }
        if (take_mark(text, ".,")) { fraction = take_fraction(text); }
    }
    auto const east = offset(text);
    std::chrono::year_month_day const date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                           std::chrono::day{static_cast<unsigned>(day)}};
    constexpr int first_year = 1700, last_year = 2250; // what 64 bits of nanoseconds hold
    if (!east || !fraction || !date.ok() || year < first_year || year > last_year || hour > 23 || minute > 59 ||
        second > 60) {
        return std::nullopt;
    }
    std::int64_t const days = std::chrono::sys_days{date}.time_since_epoch().count();
    return (86400 * days + 3600 * std::int64_t{hour} + 60 * std::int64_t{minute} + second - *east) * nano + *fraction;
}

TimeStamps::TimeStamps(std::string_view unit) {
    auto const known = time_unit(unit);
    if (known && known->factor == 1.0) { unit_ = known->decimals; }
}

void TimeStamps::choose_unit(std::uint64_t mantissa, int decimals) {
    std::uint64_t whole = mantissa;
    for (int i = 0; i < decimals && whole > 0; ++i) { whole /= 10; }
    constexpr std::uint64_t milli = 100'000'000'000, micro = 1000 * milli, nanos = 1000 * micro;
    unit_ = whole >= nanos ? 9 : whole >= micro ? 6 : whole >= milli ? 3 : 0;
}

std::optional<std::int64_t> TimeStamps::scaled(std::uint64_t mantissa, int power) {
    for (; power < 0; ++power) { mantissa /= 10; } // below a nanosecond
    for (; power > 0; --power) {
        if (mantissa > std::uint64_t{INT64_MAX} / 10) { return std::nullopt; }
        mantissa *= 10;
    }
    if (mantissa > std::uint64_t{INT64_MAX}) { return std::nullopt; }
    return static_cast<std::int64_t>(mantissa);
}

std::optional<std::int64_t> TimeStamps::read(std::string_view text) {
    text = trimmed_line(text);
    if (text.size() > 10 && (text[4] == '-' || text[4] == '/')) { return date_and_time(text); }
    if (text.find(':') != std::string_view::npos) { // a time of day
        auto const seconds = clock_duration(text);
        return seconds ? std::optional{std::llround(*seconds * 1e9)} : std::nullopt;
    }
    bool const negative = text.starts_with('-');
    std::string_view digits = negative ? text.substr(1) : text;
    std::uint64_t mantissa = 0;
    int decimals = 0;
    bool point = false, any = false;
    for (char const c : digits) {
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_decimal_digit(c)) { return std::nullopt; }
        any = true;
        if (mantissa > (std::uint64_t{INT64_MAX} - 9) / 10) {
            if (!point) { return std::nullopt; }
            continue; // far below a nanosecond
        }
        mantissa = 10 * mantissa + static_cast<std::uint64_t>(c - '0');
        decimals += point ? 1 : 0;
    }
    if (!any) { return std::nullopt; }
    auto const read_so = read(mantissa, decimals);
    return read_so && negative ? std::optional{-*read_so} : read_so;
}

} // namespace headroom::io
