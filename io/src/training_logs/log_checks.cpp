#include "training_logs/log_checks.hpp"

#include "tables/cell_text.hpp"
#include "tables/time_stamp.hpp"
#include "training_logs/log_text.hpp"

#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace headroom::io {
namespace {

std::size_t digits_at(std::string_view text, std::size_t at) {
    std::size_t count = 0;
    while (at + count < text.size() && is_decimal_digit(text[at + count])) { ++count; }
    return count;
}

/// "2026-03-04 10:00:00.123" of a text that begins with a date in either order; empty without one.
std::string iso_date(std::string_view text) {
    constexpr std::size_t date = 10; ///< letters
    bool const year_first = digits_at(text, 0) == 4;
    std::string day{text.substr(0, std::min(date, text.size()))};
    std::ranges::replace(day, '/', '-');
    if (day.size() < date || text.size() == date) { return {}; }
    bool const day_first = day[2] == '.' || day.substr(0, 2) > "12"; // "31.12.2025"
    std::string const in_year =
        day_first ? day.substr(3, 2) + "-" + day.substr(0, 2) : day.substr(0, 2) + "-" + day.substr(3, 2);
    std::string const iso = year_first ? day : day.substr(6) + "-" + in_year;
    std::size_t const begin = text.find_first_not_of("T ", date);
    if (begin == std::string_view::npos || begin > date + 2) { return {}; }
    std::string_view const time = text.substr(begin, text.find_first_not_of("0123456789:.,", begin) - begin);
    return iso + " " + std::string{time.substr(0, time.find_last_of("0123456789") + 1)};
}

constexpr double hour = 3600.0, day = 24.0 * hour;

/// Seconds to add to a time of day before "AM" or "PM".
double half_day(std::string_view behind, int hours) {
    std::string_view const word = trimmed_line(behind.substr(0, 3));
    if (same_caseless(word, "PM") && hours < 12) { return 12.0 * hour; }
    return same_caseless(word, "AM") && hours == 12 ? -12.0 * hour : 0.0;
}

/// The number of the month that a text begins with; 0: none.
int month_in(std::string_view text) {
    constexpr std::string_view names{"JanFebMarAprMayJunJulAugSepOctNovDec"};
    auto const at = text.size() > 3 && text[3] == ' ' ? names.find(text.substr(0, 3)) : names.npos;
    return at == names.npos || at % 3 != 0 ? 0 : static_cast<int>(at / 3) + 1;
}

int number_at(std::string_view text, std::size_t at, std::size_t count) {
    int value = 0;
    for (char const c : text.substr(at, count)) { value = 10 * value + (c - '0'); }
    return value;
}

/// Days since the year began (of 366) of "Mar 04 " and "I0304 ", which are taken off; below 0: none.
int take_day_of_year(std::string_view& text) {
    constexpr std::array<int, 12> before{0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335};
    int month = month_in(text), of_month = 0;
    if (std::string_view rest = text; month == 0 && month_in(rest.substr(std::min<std::size_t>(4, rest.size()))) > 0) {
        text.remove_prefix(4); // "Tue Mar  4 10:00:43 2025"
        month = month_in(text);
    }
    if (month > 0) {
        text = text.substr(std::min(text.find_first_not_of(' ', 3), text.size()));
        std::size_t const digits = digits_at(text, 0);
        if (digits == 0 || digits > 2) { return -1; }
        of_month = number_at(text, 0, digits);
        text = trimmed_line(text.substr(digits));
    } else if (text.size() > 6 && std::string_view{"IWEF"}.find(text[0]) != std::string_view::npos &&
               digits_at(text, 1) == 4 && text[5] == ' ') {
        month = number_at(text, 1, 2);
        of_month = number_at(text, 3, 2);
        text = trimmed_line(text.substr(6));
    }
    bool const valid = month >= 1 && month <= 12 && of_month >= 1 && of_month <= 31;
    return valid ? before[static_cast<std::size_t>(month - 1)] + of_month - 1 : -1;
}

/// Length of "03/04/25 " (Rich), "25-03-04 ", "04-Mar-2025 ", "04/Mar/2025:" at the beginning of a text; 0: none stands there. Nothing
/// says which of two digits are days: such stamps count as times of day.
std::size_t short_date_length(std::string_view text) {
    constexpr std::string_view separators = "/-. ";
    std::size_t const first = digits_at(text, 0);
    if (first < 1 || first > 2 || text.size() <= first || separators.find(text[first]) == separators.npos) { return 0; }
    std::size_t const middle = first + 1;
    bool const named = month_in(std::string{text.substr(std::min(middle, text.size()), 3)} + "  ") > 0;
    std::size_t const last = middle + (named ? 3 : digits_at(text, middle)) + 1;
    if ((!named && last != middle + 3) || last >= text.size() || text[last - 1] != text[first]) { return 0; }
    std::size_t const year = digits_at(text, last), end = last + year;
    bool const ends = end < text.size() && (text[end] == ' ' || text[end] == 'T' || (named && text[end] == ':'));
    return ends && (year == 2 || (named && year == 4)) ? end + 1 : 0;
}

/// Window of lines of one rank and run between two stamps.
struct Window {
    LineStamp begin;
    double printed = 0.0, steps = 0.0;
    std::int64_t number = 0;  ///< of its last step
    bool interrupted = false; ///< by an evaluation or a checkpoint
};

} // namespace

std::optional<LineStamp> stamp_of(std::string_view line) {
    constexpr std::size_t head = 120;
    std::string_view const text = line.substr(0, head);
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::size_t const digits = digits_at(text, at);
        if (digits == 0) { continue; }
        bool const dated = (digits == 4 && digits_at(text, at + 5) == 2 && digits_at(text, at + 8) >= 2) ||
                           (digits == 2 && digits_at(text, at + 3) == 2 && digits_at(text, at + 6) == 4);
        std::string const date = dated ? iso_date(line.substr(at)) : std::string{};
        if (auto const nanoseconds = date.empty() ? std::nullopt : date_and_time(date)) {
            bool const fraction = date.find_first_of(".,") != std::string::npos;
            std::string_view const behind =
                line.substr(std::min(line.find_first_not_of("0123456789:.,/-T ", at), line.size()));
            double const added = half_day(behind, number_at(date, 11, 2));
            return LineStamp{static_cast<double>(*nanoseconds) * 1e-9 + added, fraction ? 5e-4 : 0.5};
        }
        at += digits;
    }
    return std::nullopt;
}

std::optional<RepeatedStamp> stamp_without_year(std::string_view line) {
    std::string_view text = line.substr(std::min(line.find_first_not_of("[( \t"), line.size()));
    for (std::string_view const name : {"ts=", "time=", "timestamp="}) {
        if (text.starts_with(name)) { text.remove_prefix(name.size()); }
    }
    std::size_t const digits = digits_at(text, 0);
    if (digits == 10 || digits == 13) {
        std::size_t const point = text.substr(digits).starts_with('.') ? digits_at(text, digits + 1) + 1 : 0;
        auto const since = printed_number(text.substr(0, digits + point));
        bool const ends =
            digits + point < text.size() && std::string_view{" ,;|]\t"}.find(text[digits + point]) != text.npos;
        double const unit = digits == 13 ? 1e-3 : 1.0;
        constexpr double year_2008 = 1.2e9, year_2036 = 2.1e9; // other counts have ten digits, too
        bool const dated = since && since->value * unit > year_2008 && since->value * unit < year_2036;
        if (!dated || !ends) { return std::nullopt; }
        return RepeatedStamp{{since->value * unit, digits == 10 && point == 0 ? 0.5 : 5e-4}, 0.0};
    }
    if (text.size() > 5 && text.substr(3, 2) == ", ") { text.remove_prefix(5); } // "Tue, 04 Mar 2025 10:00:43"
    int const days = take_day_of_year(text);
    text.remove_prefix(short_date_length(text));
    bool const timed = digits_at(text, 0) == 2 && digits_at(text, 3) == 2 && digits_at(text, 6) == 2 &&
                       text[2] == ':' && text[5] == ':';
    int const hours = timed ? number_at(text, 0, 2) : 24;
    if (hours > 23 || number_at(text, 3, 2) > 59 || number_at(text, 6, 2) > 60) { return std::nullopt; }
    double seconds = hour * hours + 60.0 * number_at(text, 3, 2) + number_at(text, 6, 2);
    std::size_t end = 8;
    if (bool const fraction = text.size() > 9 && (text[8] == '.' || text[8] == ',');
        fraction && digits_at(text, 9) > 0) {
        end = 9 + digits_at(text, 9);
        seconds += printed_number("0." + std::string{text.substr(9, end - 9)}).value_or(PrintedNumber{}).value;
    }
    if (end < text.size() && text[end] == ':') { return std::nullopt; }
    seconds += half_day(trimmed_line(text.substr(end)), hours);
    constexpr int days_of_year = 366;
    return RepeatedStamp{{seconds + day * std::max(days, 0), end > 8 ? 5e-4 : 0.5},
                         days < 0 ? day : day * days_of_year};
}

bool saves_checkpoint(std::string_view line) {
    static constexpr std::array<std::string_view, 2> names{"heckpoint", "ckpt"};
    static constexpr std::array<std::string_view, 6> verbs{"sav", "Sav", "writ", "Writ", "stor", "Stor"};
    auto const in = [&](std::string_view part) { return line.find(part) != line.npos; };
    return std::ranges::any_of(names, in) && std::ranges::any_of(verbs, in);
}

LineRates rates_after(std::string_view line, std::initializer_list<RateLabel> labels) {
    LineRates rates = {};
    for (auto const& [kind, label] : labels) {
        double& rate = rates[static_cast<std::size_t>(kind)];
        if (rate > 0.0) { continue; }
        auto const printed = scaled_number_after(line, label);
        if (printed && printed->value > 0.0) { rate = printed->value; }
    }
    return rates;
}

std::optional<double> ratio_to_stamps(std::span<CheckedStep const> steps) {
    constexpr double fine = 0.05, coarse = 0.25;
    std::map<std::pair<int, int>, Window> windows;
    std::vector<double> ratios;
    auto const passed_in = [](Window const& window, CheckedStep const& at) {
        return at.stamp->seconds - window.begin.seconds;
    };
    std::optional<double> rough;
    for (CheckedStep const& one : steps) {
        if (!one.stamp) { continue; }
        auto const [at, begins] =
            windows.try_emplace({one.step.run, one.step.rank}, Window{.begin = *one.stamp, .number = one.step.number});
        Window& window = at->second;
        if (begins || one.step.number <= window.number) { continue; } // another rank about the same step
        window.number = one.step.number;
        window.printed += one.step.seconds * static_cast<double>(one.step.steps);
        window.interrupted |= one.step.evaluation || one.step.checkpoint;
        double const passed = passed_in(window, one), rounding = 2.0 * one.stamp->half_unit;
        if (passed > 0.0 && !window.interrupted && rounding <= coarse * passed) { rough = window.printed / passed; }
        if (passed >= 0.0 && rounding > fine * passed && !window.interrupted) { continue; }
        if (passed > 0.0 && !window.interrupted) { ratios.push_back(window.printed / passed); }
        window = Window{.begin = *one.stamp, .number = one.step.number};
    }
    return ratios.empty() ? rough : std::optional{quantile(std::move(ratios), 0.5)};
}

std::vector<training::LogRate> works_by_rates(std::span<CheckedStep const> steps) {
    std::vector<training::LogRate> works;
    for (std::size_t kind = 0; kind < rate_kinds; ++kind) {
        std::vector<double> values;
        for (CheckedStep const& one : steps) {
            if (one.rates[kind] > 0.0) { values.push_back(one.rates[kind] * one.step.seconds); }
        }
        if (values.empty()) { continue; }
        works.push_back({static_cast<training::LogRateKind>(kind), quantile(std::move(values), 0.5)});
    }
    return works;
}

} // namespace headroom::io
