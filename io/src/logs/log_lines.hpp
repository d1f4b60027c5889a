#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace headroom::io {

/// Without the blanks at both ends.
std::string_view trimmed_line(std::string_view text);

/// The first word of a text; what follows stays in it.
std::string_view next_word(std::string_view& text);

/// Lines of a log, numbered from 1, without their ends and without what a launcher puts before each:
/// "[1,0]<stdout>:", "[1,0]<stdout> ", "0: ", "[0] ", a date and a time of day.
class LogLines {
public:
    explicit LogLines(std::string_view text) : text_{text} {}
    bool next(std::string_view& line);
    [[nodiscard]] std::size_t number() const { return number_; }
    /// Whether the line that was given last has no end: the writer may have stopped in it.
    [[nodiscard]] bool unfinished() const { return unfinished_; }

private:
    std::string_view text_;
    std::size_t number_ = 0;
    bool unfinished_ = false;
};

/// A finite number with how far rounding may have moved it: half a unit of its last digit.
struct PrintedNumber {
    double value = 0.0, half_unit = 0.0;
};
/// The whole of a word as such a number; empty when it is none.
std::optional<PrintedNumber> printed_number(std::string_view word);
/// The same; what follows the number, trimmed, is written to `rest`.
std::optional<PrintedNumber> printed_number(std::string_view word, std::string_view& rest);

/// The whole of a word as a count from 0 to 2^31 - 1.
std::optional<int> printed_count(std::string_view word);

/// Lower case of ASCII letters.
char lowered(char c);
/// Where `part` begins in `text`, whatever the case of its letters; npos when it does not.
std::size_t find_caseless(std::string_view text, std::string_view part);

} // namespace headroom::io
