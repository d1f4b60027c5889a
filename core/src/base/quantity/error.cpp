#include "headroom/error.hpp"

#include "headroom/text.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace headroom {

using text::printable;

namespace {

constexpr std::size_t longest_part = 1000; ///< bytes of one part of an error line
constexpr std::size_t longest_quote = 60;  ///< bytes of quoted input
constexpr std::size_t longest_name = 64;   ///< names longer than this are not compared

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

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

/// "13b" of "Llama-13B-chat", the number of weights in a model's name; empty where it has none.
std::string size_in(std::string_view name) {
    for (std::size_t at = 0; at < name.size();) {
        std::size_t const begin = std::min(name.find_first_of("0123456789", at), name.size());
        std::size_t const end = std::min(name.find_first_not_of("0123456789.", begin), name.size());
        bool const ends = end + 1 >= name.size() || normalised(name.substr(end + 1, 1)).empty();
        if (end < name.size() && (name[end] == 'b' || name[end] == 'B') && ends) {
            return normalised(name.substr(begin, end + 1 - begin));
        }
        at = std::max(end, begin + 1);
    }
    return {};
}

/// Whether two names are of one family, by the letters that they begin with, and of one size: "llama-13b-chat", "llama-2-13b".
bool of_one_size(std::string_view name, std::string_view candidate) {
    std::string const size = size_in(name), one = normalised(name), other = normalised(candidate);
    auto const family = one.substr(0, one.find_first_of("0123456789"));
    return !size.empty() && family.size() > 2 && size == size_in(candidate) && other.starts_with(family);
}

} // namespace

InputError::InputError(Fault fault, ErrorText text)
    : std::runtime_error{error_line(text)}, fault_{fault}, text_{std::move(text)} {}

void refuse(std::string_view where, std::string problem, std::string why, std::string hint) {
    throw InputError{Fault::usage, {std::string{where}, std::move(problem), std::move(why), std::move(hint)}};
}

void too_little(std::string_view where, std::string problem, std::string why, std::string hint) {
    throw InputError{Fault::insufficient, {std::string{where}, std::move(problem), std::move(why), std::move(hint)}};
}

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
            c == '.' && i > 0 && i + 1 < name.size() && is_decimal_digit(name[i - 1]) && is_decimal_digit(name[i + 1]);
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
    std::pair<bool, std::size_t> best_distance{true, longest_name};
    for (std::string const& candidate : candidates) {
        std::string const other = normalised(candidate);
        if (other.empty() || other.size() > longest_name) { continue; }
        std::size_t const distance = edit_distance(key, other), longer = std::max(key.size(), other.size());
        // Near: at most a third of the longer name differs, half of it in a model of the same size, or the one holds the other
        // ("h100", "dgx-h100"). Models of the same size are nearer than all others.
        bool const holds = (key.size() >= 3 && other.find(key) != std::string::npos) ||
                           (other.size() >= 3 && key.find(other) != std::string::npos);
        bool const same_size = of_one_size(name, candidate);
        bool const near = holds || 3 * distance <= longer || (same_size && 2 * distance <= longer);
        std::pair const from_name{!same_size, distance};
        if (near && from_name < best_distance) {
            best = candidate;
            best_distance = from_name;
        }
    }
    return best;
}

std::string misspelled(std::string_view name, std::vector<std::string> const& candidates) {
    constexpr std::size_t shortest = 4, share = 4; // "--tp" is no slip of "--top"
    std::string const key = normalised(name);
    if (key.size() < shortest || key.size() > longest_name) { return {}; }
    std::string best;
    std::size_t best_distance = longest_name;
    for (std::string const& candidate : candidates) {
        std::string const other = normalised(candidate);
        if (other.empty() || other.size() > longest_name) { continue; }
        std::size_t const distance = edit_distance(key, other);
        if (share * distance <= std::max(key.size(), other.size()) && distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

} // namespace headroom
