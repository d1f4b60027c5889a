#include "tables/cell_text.hpp"

#include <algorithm>
#include <array>

namespace headroom::io {
namespace {

/// A comparison, as `find_first_of` calls a function for each character.
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

constexpr std::array<std::string_view, 9> empty_words{"", "-", "--", "n/a", "na", "none", "null", "nil", "#n/a"};

} // namespace

std::string_view trimmed_line(std::string_view text) {
    while (!text.empty() && is_space(text.front())) { text.remove_prefix(1); }
    while (!text.empty() && is_space(text.back())) { text.remove_suffix(1); }
    return text;
}

std::string_view next_word(std::string_view& text) {
    text = trimmed_line(text);
    std::size_t end = 0;
    while (end < text.size() && !is_space(text[end])) { ++end; }
    std::string_view const word = text.substr(0, end);
    text = trimmed_line(text.substr(end));
    return word;
}

bool is_word_of(std::string_view words, std::string_view word) {
    while (!words.empty()) {
        if (same_caseless(next_word(words), word)) { return true; }
    }
    return false;
}

bool TextLines::next(std::string_view& line) {
    if (text_.empty()) { return false; }
    auto const end = text_.find('\n');
    unfinished_ = end == std::string_view::npos;
    line = trimmed_line(text_.substr(0, end));
    text_.remove_prefix(unfinished_ ? text_.size() : end + 1);
    ++number_;
    return true;
}

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

bool same_caseless(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) { return lowered(x) == lowered(y); });
}

std::size_t find_caseless(std::string_view text, std::string_view part) {
    auto const found = std::search(text.begin(), text.end(), part.begin(), part.end(),
                                   [](char a, char b) { return lowered(a) == lowered(b); });
    return found == text.end() && !part.empty() ? std::string_view::npos
                                                : static_cast<std::size_t>(found - text.begin());
}

std::string plain_latex(std::string_view text, bool* unknown) {
    struct Command {
        std::string_view name, meaning;
    };
    constexpr std::array commands{Command{"pm", "\xC2\xB1"},
                                  Command{"%", "%"},
                                  Command{"_", "_"},
                                  Command{"mu", "\xC2\xB5"},
                                  Command{"micro", "\xC2\xB5"},
                                  Command{"milli", "m"},
                                  Command{"nano", "n"},
                                  Command{"kilo", "k"},
                                  Command{"second", "s"},
                                  Command{"minute", "min"},
                                  Command{"hour", "h"},
                                  Command{"day", "d"},
                                  Command{"byte", "B"},
                                  Command{"times", "\xC3\x97"},
                                  Command{"per", "/"}};
    constexpr std::array<std::string_view, 20> fonts{"si",     "SI",     "qty",    "unit",   "text", "textbf", "textit",
                                                     "textrm", "mathrm", "mathit", "mathbf", "rm",   "bf",     "it",
                                                     ",",      ";",      " ",      "!",      ":",    "\\"};
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\') { // a command, or the end of a row
            std::size_t end = i + 1;
            while (end < text.size() && lowered(text[end]) >= 'a' && lowered(text[end]) <= 'z') { ++end; }
            end = std::min(std::max(end, i + 2), text.size());
            std::string_view const name = text.substr(i + 1, end - i - 1);
            auto const known = std::ranges::find(commands, name, &Command::name);
            if (known != commands.end()) { plain += known->meaning; }
            bool const font = std::ranges::find(fonts, name) != fonts.end();
            if (unknown != nullptr && known == commands.end() && !font) { *unknown = true; }
            i = end - 1;
        } else if (std::string_view{"${}~"}.find(text[i]) == std::string_view::npos) {
            plain += text[i];
        }
    }
    return std::string{trimmed_line(plain)};
}

bool says_nothing(std::string_view cell) {
    std::string_view const text = trimmed_line(cell);
    return std::ranges::any_of(empty_words, [&](std::string_view word) { return same_caseless(text, word); });
}

std::optional<bool> yes_or_no(std::string_view cell) {
    constexpr std::string_view yes = "y yes true on 1 enabled \xE2\x9C\x93 \xE2\x9C\x94 \xE2\x9C\x85";
    constexpr std::string_view no = "n no false off 0 none disabled \xE2\x9C\x97 \xE2\x9C\x98 \xE2\x9D\x8C";
    cell = trimmed_line(cell);
    if (is_word_of(yes, cell)) { return true; }
    return is_word_of(no, cell) ? std::optional{false} : std::nullopt;
}

} // namespace headroom::io
