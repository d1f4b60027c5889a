#include "logs/log_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace headroom::io {
namespace {

constexpr std::string_view blanks = " \t\r\f\v";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_at(std::string_view text, std::size_t at) {
    std::size_t count = 0;
    while (at + count < text.size() && is_digit(text[at + count])) { ++count; }
    return count;
}

/// "[1,0]<stdout>:" of mpirun --tag-output, "[0] " of others: the length, 0 when there is none.
std::size_t bracketed_rank(std::string_view line) {
    if (!line.starts_with('[')) { return 0; }
    std::size_t at = 1;
    std::size_t const first = digits_at(line, at);
    if (first == 0) { return 0; }
    at += first;
    if (at < line.size() && line[at] == ',') { at += 1 + digits_at(line, at + 1); }
    if (at >= line.size() || line[at] != ']') { return 0; }
    ++at;
    for (std::string_view const stream : {"<stdout>", "<stderr>"}) {
        if (line.substr(at).starts_with(stream)) { at += stream.size(); }
    }
    if (at < line.size() && line[at] == ':') { ++at; }
    return at;
}

/// "0: " of srun --label and "3:" padded by it.
std::size_t labelled_task(std::string_view line) {
    std::size_t const digits = digits_at(line, 0);
    bool const label =
        digits > 0 && digits < 8 && digits + 1 < line.size() && line[digits] == ':' && line[digits + 1] == ' ';
    return label ? digits + 2 : 0;
}

/// "2024-05-01T10:00:00.123456Z " or "2024-05-01 10:00:00,123 " that a cluster's log keeper puts first.
std::size_t time_stamp(std::string_view line) {
    if (digits_at(line, 0) != 4 || line.size() < 20 || line[4] != '-' || line[7] != '-') { return 0; }
    if (line[10] != 'T' && line[10] != ' ') { return 0; }
    if (line[13] != ':' || line[16] != ':' || digits_at(line, 17) != 2) { return 0; }
    auto const end = line.find_first_of(" \t", 19);
    if (end == std::string_view::npos) { return 0; }
    for (std::string_view const stream : {"stdout F ", "stderr F "}) { // what container engines add
        if (line.substr(end + 1).starts_with(stream)) { return end + 1 + stream.size(); }
    }
    return end + 1;
}

std::string_view without_prefixes(std::string_view line) {
    constexpr int most_prefixes = 4;
    for (int i = 0; i < most_prefixes; ++i) {
        std::size_t const length = std::max({bracketed_rank(line), labelled_task(line), time_stamp(line)});
        if (length == 0) { return line; }
        line = trimmed_line(line.substr(length));
    }
    return line;
}

} // namespace

std::string_view trimmed_line(std::string_view text) {
    auto const first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) { return {}; }
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view next_word(std::string_view& text) {
    text = trimmed_line(text);
    auto const end = std::min(text.find_first_of(blanks), text.size());
    std::string_view const word = text.substr(0, end);
    text = trimmed_line(text.substr(end));
    return word;
}

bool LogLines::next(std::string_view& line) {
    if (text_.empty()) { return false; }
    auto const end = text_.find('\n');
    unfinished_ = end == std::string_view::npos;
    line = without_prefixes(trimmed_line(text_.substr(0, end)));
    text_.remove_prefix(unfinished_ ? text_.size() : end + 1);
    ++number_;
    return true;
}

std::optional<PrintedNumber> printed_number(std::string_view word, std::string_view& rest) {
    std::string_view const text = trimmed_line(word);
    double value = 0.0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || !std::isfinite(value)) { return std::nullopt; }
    std::string_view const digits = text.substr(0, static_cast<std::size_t>(stop - text.data()));
    auto const point = digits.find('.');
    auto const exponent = digits.find_first_of("eE");
    double unit = point == std::string_view::npos
                      ? 1.0
                      : std::pow(10.0, -static_cast<double>(std::min(exponent, digits.size()) - point - 1));
    if (exponent != std::string_view::npos) {
        double power = 0.0;
        std::string_view shift = digits.substr(exponent + 1);
        if (shift.starts_with('+')) { shift.remove_prefix(1); }
        std::from_chars(shift.data(), shift.data() + shift.size(), power);
        unit *= std::pow(10.0, power);
    }
    rest = trimmed_line(text.substr(digits.size()));
    return PrintedNumber{value, 0.5 * unit};
}

std::optional<PrintedNumber> printed_number(std::string_view word) {
    std::string_view rest;
    auto const number = printed_number(word, rest);
    return rest.empty() ? number : std::nullopt;
}

std::optional<int> printed_count(std::string_view word) {
    std::string_view const text = trimmed_line(word);
    int count = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    bool const whole = error == std::errc{} && stop == text.data() + text.size() && count >= 0;
    return whole ? std::optional{count} : std::nullopt;
}

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::size_t find_caseless(std::string_view text, std::string_view part) {
    auto const found = std::search(text.begin(), text.end(), part.begin(), part.end(),
                                   [](char a, char b) { return lowered(a) == lowered(b); });
    return found == text.end() && !part.empty() ? std::string_view::npos
                                                : static_cast<std::size_t>(found - text.begin());
}

} // namespace headroom::io
