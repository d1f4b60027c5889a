#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::io {

/// Without the blanks at both ends.
std::string_view trimmed_line(std::string_view text);

/// The first word of a text; what follows stays in it.
std::string_view next_word(std::string_view& text);
/// Whether `word` is one of these, between blanks, whatever the case of its letters.
bool is_word_of(std::string_view words, std::string_view word);

/// Lower case of ASCII letters.
char lowered(char c);
bool is_decimal_digit(char c);
/// Equal whatever the case of their letters.
bool same_caseless(std::string_view a, std::string_view b);
/// Where `part` begins in `text`, whatever the case of its letters; npos when it does not.
std::size_t find_caseless(std::string_view text, std::string_view part);

/// Lines of a text, numbered from 1, without blanks at their ends.
class TextLines {
public:
    explicit TextLines(std::string_view text) : text_{text} {}
    bool next(std::string_view& line);
    [[nodiscard]] std::size_t number() const { return number_; }
    /// Whether the line that was given last has no end: the writer may have stopped in it.
    [[nodiscard]] bool unfinished() const { return unfinished_; }

private:
    std::string_view text_;
    std::size_t number_ = 0;
    bool unfinished_ = false;
};

/// A text of LaTeX without its commands, braces and dollars: "\xC2\xB5s" of "$\\mu$s" and "\\si{\\micro\\second}".
/// `unknown` becomes true at a command that is neither a unit nor a font.
std::string plain_latex(std::string_view text, bool* unknown = nullptr);

/// Whether a cell says that nothing was measured: "", "-", "n/a", "null". NaN is a number that went wrong.
bool says_nothing(std::string_view cell);

/// Meaning of "yes", "True", "on", "1", a check mark, and of their contraries; empty for other cells.
std::optional<bool> yes_or_no(std::string_view cell);

} // namespace headroom::io
