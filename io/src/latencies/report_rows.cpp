#include "latencies/report_rows.hpp"

#include "records/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headroom::io {
namespace {

constexpr std::string_view blanks = " \t";

bool is_letter(char c) { return (lowered(c) >= 'a' && lowered(c) <= 'z') || static_cast<unsigned char>(c) >= 0x80; }

/// Letters, and the strokes and signs of units, at the beginning of a text.
std::string_view unit_word(std::string_view text) {
    auto const end = std::ranges::find_if(text, [](char c) { return !is_letter(c) && c != '/'; });
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

/// The number without a sign that a text begins with: digits, perhaps in groups, and a point.
std::size_t number_length(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size() && (is_decimal_digit(text[at]) || text[at] == '.' || text[at] == ',')) { ++at; }
    while (at > 0 && !is_decimal_digit(text[at - 1])) { --at; } // "30s," and "3." end a sentence
    return at;
}

/// Cuts a number off a text.
std::optional<double> take_number(std::string_view& text) {
    std::size_t const length = number_length(text);
    auto const number = length > 0 ? decimal_number(text.substr(0, length)) : std::nullopt;
    if (number) { text.remove_prefix(length); }
    return number;
}

std::size_t blanks_before(std::string_view text) { return std::min(text.find_first_not_of(blanks), text.size()); }

/// "635.91us", "0.0026 secs", "1m2.5s"
std::optional<double> take_duration(std::string_view& text) {
    double total = 0.0;
    bool any = false;
    for (std::string_view rest = text;; any = true) {
        auto const number = take_number(rest);
        if (!number) { break; }
        if (!any) { rest.remove_prefix(blanks_before(rest)); }
        std::string_view const name = unit_word(rest);
        auto const unit = time_unit(name);
        if (!unit) { break; }
        total += unit->base(*number);
        rest.remove_prefix(name.size());
        text = rest;
    }
    return any ? std::optional{total} : std::nullopt;
}

/// "93.69%", "10 %", "50%%"
std::optional<double> take_percentage(std::string_view& text) {
    std::string_view rest = text;
    auto const number = take_number(rest);
    constexpr double hundred = 100.0;
    if (!number || *number > hundred) { return std::nullopt; }
    rest.remove_prefix(blanks_before(rest));
    if (!rest.starts_with('%')) { return std::nullopt; }
    while (rest.starts_with('%')) { rest.remove_prefix(1); }
    text = rest;
    return *number / hundred;
}

/// "5.07k"
std::optional<double> take_scaled(std::string_view& text) {
    auto number = take_number(text);
    constexpr std::string_view prefixes = "kMG";
    auto const power = !number || text.empty() ? std::string_view::npos : prefixes.find(text[0]);
    if (power == std::string_view::npos) { return number; }
    text.remove_prefix(1);
    return *number * std::pow(1000.0, static_cast<double>(power + 1));
}

std::optional<double> take_count(std::string_view& text) {
    std::string_view rest = text;
    auto const number = take_number(rest);
    constexpr double most = 1e18;
    if (!number || *number > most || *number != std::floor(*number)) { return std::nullopt; }
    text = rest;
    return number;
}

/// "3.34MB", "490.90 MiB", "10.05 KiB/s", "1070000 bytes"
std::optional<double> take_size(std::string_view& text) {
    std::string_view rest = text;
    auto const number = take_number(rest);
    if (!number) { return std::nullopt; }
    rest.remove_prefix(blanks_before(rest));
    std::string_view const name = unit_word(rest);
    constexpr std::array<std::string_view, 14> names{"B",   "KB",  "kB",  "MB", "GB", "TB",    "KiB",
                                                     "MiB", "GiB", "TiB", "K",  "M",  "bytes", "G"};
    std::string_view const size = name.substr(0, name.find('/'));
    std::string_view const per = name.substr(size.size());
    bool const is_rate = per.empty() || per == "/s" || per == "/sec" || per == "/request";
    if (std::ranges::find(names, size) == names.end() || !is_rate) { return std::nullopt; }
    text = rest.substr(name.size());
    return number;
}

/// Cuts what a letter of a shape stands for off a text.
std::optional<double> take(char letter, std::string_view& text) {
    switch (letter) {
    case 'n': return take_scaled(text);
    case 'c': return take_count(text);
    case 't': return take_duration(text);
    case 'p': return take_percentage(text);
    case 's': return take_size(text);
    case '*': text = {}; return 0.0;
    default: break;
    }
    std::size_t const end = letter == 'a' ? unit_word(text).size() : std::min(text.find_first_of(blanks), text.size());
    if (end == 0) { return std::nullopt; }
    text.remove_prefix(end);
    return 0.0;
}

} // namespace

std::optional<Captures> fits_shape(std::string_view line, std::string_view shape) {
    Captures found;
    line = trimmed_line(line);
    while (!shape.empty()) {
        char const letter = shape[0];
        if (letter == ' ') {
            std::size_t const blank = blanks_before(line);
            if (blank == 0 && !line.empty()) { return std::nullopt; }
            line.remove_prefix(blank);
            shape.remove_prefix(1);
        } else if (shape.starts_with("%_")) {
            line.remove_prefix(blanks_before(line));
            shape.remove_prefix(2);
        } else if (shape.starts_with("%%")) {
            if (!line.starts_with('%')) { return std::nullopt; }
            line.remove_prefix(1);
            shape.remove_prefix(2);
        } else if (letter == '%' && shape.size() > 1) {
            std::string_view const before = line;
            auto const number = take(shape[1], line);
            if (!number || found.count == found.number.size()) { return std::nullopt; }
            found.text.at(found.count) = before.substr(0, before.size() - line.size());
            found.number.at(found.count++) = *number;
            shape.remove_prefix(2);
        } else {
            if (!line.starts_with(letter)) { return std::nullopt; }
            line.remove_prefix(1);
            shape.remove_prefix(1);
        }
    }
    return line.empty() ? std::optional{found} : std::nullopt;
}

void ReportReader::failed(double count) {
    if (count > 0.0) { samples_.leave_out(SampleIssue::failed, number(), static_cast<std::uint64_t>(count)); }
}

void ReportReader::failed_among(double count) {
    if (count > 0.0) { count_failed_among(samples_, static_cast<std::uint64_t>(count), number()); }
}

void ReportReader::read() {
    std::string_view line;
    while (!pending_.empty() || lines_.next(line)) {
        if (!pending_.empty()) { line = std::exchange(pending_, {}); }
        if (!line.empty()) { read_line(line); }
    }
    double const all = static_cast<double>(samples_.found().stated_count);
    if (drawn_ > 0.0 && all > 0.0 && drawn_ != all) {
        count_issue(samples_.found().issues,
                    Issue{.kind = "request by which the histogram of the report differs from its count",
                          .count = static_cast<std::uint64_t>(std::abs(drawn_ - all)),
                          .text = fmt::format("{:.0f} and {:.0f}", drawn_, all),
                          .kept = true});
    }
}

/// False for a line that stood before.
bool ReportReader::is_new(std::size_t row) {
    Seen& seen = seen_.at(row);
    auto const at = std::ranges::lower_bound(seen.texts, line_);
    bool const repeated = at != seen.texts.end() && *at == line_;
    if (repeated) {
        samples_.leave_out(SampleIssue::repeated_line, number(), 1, line_);
        return false;
    }
    if (!rows_[row].many && !seen.texts.empty()) {
        unreadable_error(fmt::format("{}:{}", samples_.where(), number()), "a second report in this file",
                         fmt::format("line {} says {}", seen.line, headroom::quoted(seen.texts.front())),
                         "give each report in a file of its own");
    }
    constexpr std::size_t most = 10'000; // no writer prints so many
    if (seen.texts.size() == most) {
        samples_.leave_out(SampleIssue::unused_line, number(), 1, line_);
        return false;
    }
    if (seen.texts.empty()) { seen.line = number(); }
    seen.texts.insert(at, line_);
    return true;
}

void ReportReader::read_line(std::string_view line) {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        ReportRow const& known = rows_[row];
        if (known.part != 0 && known.part != part_) { continue; }
        auto const found = fits_shape(line, known.shape);
        if (!found) { continue; }
        line_ = line;
        bool const use = known.alike || is_new(row);
        if (known.opens >= 0) { part_ = known.opens; }
        if (use && known.use != nullptr) { known.use(*this, *found); }
        return;
    }
    samples_.leave_out(SampleIssue::unused_line, number(), 1, line);
}

} // namespace headroom::io
