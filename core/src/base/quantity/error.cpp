#include "headroom/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace headroom {

namespace {

constexpr std::size_t longest_part = 1000; ///< bytes of one part of an error line
constexpr std::size_t longest_quote = 60;  ///< bytes of quoted input
constexpr std::size_t longest_name = 64;   ///< names longer than this are not compared

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Length of the well-formed UTF-8 character at the start of `text`; 0 when there is none.
std::size_t utf8_length(std::string_view text) {
    auto const byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    auto const continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0U) == 0x80U; };
    std::uint8_t const lead = byte(0);
    if (lead < 0x80U) { return 1; }
    if (lead >= 0xC2U && lead <= 0xDFU) { return continues(1) ? 2 : 0; }
    if (lead >= 0xE0U && lead <= 0xEFU) {
        bool const fits =
            continues(1) && continues(2) && !(lead == 0xE0U && byte(1) < 0xA0U) && !(lead == 0xEDU && byte(1) > 0x9FU);
        return fits ? 3 : 0;
    }
    if (lead >= 0xF0U && lead <= 0xF4U) {
        bool const fits = continues(1) && continues(2) && continues(3) && !(lead == 0xF0U && byte(1) < 0x90U) &&
                          !(lead == 0xF4U && byte(1) > 0x8FU);
        return fits ? 4 : 0;
    }
    return 0;
}

/// Whether a sequence of three bytes turns the direction of what follows: U+202A to U+202E, U+2066 to U+2069.
bool turns_direction(std::string_view bytes) {
    return bytes.starts_with("\xE2\x80") ? bytes[2] >= '\xAA' && bytes[2] <= '\xAE'
                                         : bytes.starts_with("\xE2\x81") && bytes[2] >= '\xA6' && bytes[2] <= '\xA9';
}

/// Printable UTF-8 of at most `limit` bytes: controls and broken bytes become '?', the rest is cut with "...".
std::string printable(std::string_view text, std::size_t limit) {
    std::string clean;
    clean.reserve(std::min(text.size(), limit + 4));
    while (!text.empty()) {
        std::size_t const length = utf8_length(text);
        auto const lead = static_cast<std::uint8_t>(text[0]);
        bool const low_control = length == 1 && (lead < 0x20U || lead == 0x7FU);
        bool const high_control = length == 2 && lead == 0xC2U && static_cast<std::uint8_t>(text[1]) < 0xA0U;
        std::size_t const taken = length == 0 ? 1 : length;
        if (clean.size() + taken > limit) { return clean + "..."; }
        bool const turns = length == 3 && turns_direction(text.substr(0, 3));
        if (length == 0 || high_control || turns) {
            clean += '?';
        } else if (low_control) {
            clean += lead == '\n' || lead == '\t' || lead == '\r' ? ' ' : '?';
        } else {
            clean += text.substr(0, length);
        }
        text.remove_prefix(taken);
    }
    return clean;
}

/// Edit distance with transposition of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) { last[j] = j; }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            std::size_t const change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

} // namespace

InputError::InputError(Fault fault, ErrorText text)
    : std::runtime_error{error_line(text)}, fault_{fault}, text_{std::move(text)} {}

std::string error_line(ErrorText const& text) {
    std::string line;
    if (!text.where.empty()) { line += printable(text.where, longest_part) + ": "; }
    line += printable(text.problem, longest_part);
    if (!text.why.empty()) { line += " (" + printable(text.why, longest_part) + ")"; }
    if (!text.hint.empty()) { line += ". " + printable(text.hint, longest_part); }
    return line;
}

std::string quoted(std::string_view text) { return "'" + printable(text, longest_quote) + "'"; }

std::string normalised(std::string_view name) {
    constexpr std::string_view dropped = " -_./()[]{}<>";
    std::string key;
    key.reserve(name.size());
    for (std::size_t i = 0; i < name.size(); ++i) {
        char const c = name[i];
        bool const decimal_point =
            c == '.' && i > 0 && i + 1 < name.size() && is_digit(name[i - 1]) && is_digit(name[i + 1]);
        if (decimal_point || dropped.find(c) == std::string_view::npos) {
            key += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        }
    }
    return key;
}

std::string nearest(std::string_view name, std::vector<std::string> const& candidates) {
    std::string const key = normalised(name);
    if (key.empty() || key.size() > longest_name) { return {}; }
    std::string best;
    std::size_t best_distance = longest_name;
    for (std::string const& candidate : candidates) {
        std::string const other = normalised(candidate);
        if (other.empty() || other.size() > longest_name) { continue; }
        std::size_t const distance = edit_distance(key, other);
        // Near: at most a third of the longer name differs, or the one holds the other ("h100", "dgx-h100").
        bool const holds = (key.size() >= 3 && other.find(key) != std::string::npos) ||
                           (other.size() >= 3 && key.find(other) != std::string::npos);
        bool const near = holds || 3 * distance <= std::max(key.size(), other.size());
        if (near && distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

} // namespace headroom
