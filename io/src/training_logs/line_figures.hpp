#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headroom::io {

/// A number of a line, with the words before it and its unit.
struct LineFigure {
    std::string_view label, unit, behind; ///< `behind`: text behind the whole
    std::string cell;                     ///< as it is printed
    bool counts_batches = false;          ///< "[ 50/1251 ( 4%)]", "100/1563 [==>": those of an epoch
    bool whole = true;                    ///< no fraction, scale or time of day
    bool clock = false;                   ///< "1:23:45", "1m 50s"
};

/// The next figure of a line from `at` on; false at the end of the line.
bool next_figure(std::string_view line, std::size_t& at, LineFigure& figure);
/// A number with a unit of time.
bool has_time_unit(LineFigure const& figure);
/// A time without a word directly before it: "loss 2.1 | 250.10ms".
bool is_bare_time(LineFigure const& figure);
/// Whether another number follows its unit, which may be the label of that: "iter 5 ms 250.1".
bool is_before_number(LineFigure const& figure);
/// A time without a label in a line whose words say nothing that it may be the time of.
bool is_time_of_line(LineFigure const& figure, std::string_view line);
bool is_latin_letter(char c);
/// A letter, digit or underscore.
bool is_name_sign(char c);

} // namespace headroom::io
