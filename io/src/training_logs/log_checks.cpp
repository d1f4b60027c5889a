#include "training_logs/log_checks.hpp"

#include "tables/cell_text.hpp"
#include "tables/time_stamp.hpp"
#include "training_logs/log_text.hpp"

#include "headroom/order_statistics.hpp"

#include <algorithm>
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
    std::string const iso = year_first ? day : day.substr(6) + "-" + day.substr(0, 2) + "-" + day.substr(3, 2);
    std::size_t const begin = text.find_first_not_of("T ", date);
    if (begin == std::string_view::npos || begin > date + 2) { return {}; }
    std::string_view const time = text.substr(begin, text.find_first_not_of("0123456789:.,", begin) - begin);
    return iso + " " + std::string{time.substr(0, time.find_last_of("0123456789") + 1)};
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
            return LineStamp{static_cast<double>(*nanoseconds) * 1e-9, fraction ? 5e-4 : 0.5};
        }
        at += digits;
    }
    return std::nullopt;
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
