#pragma once

#include "output.hpp"

#include "headroom/document/document.hpp"
#include "headroom/training/assume.hpp"
#include "headroom/training/left_out.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// Length of a result for people: one line, one screen, or all.
enum class Length { brief, screen, full };

/// --full and --brief, of verbs whose results are longer than a screen.
std::span<Option const> length_options();
/// Markdown is whole unless --brief is given. Errors: InputError{usage} for both.
Length read_length(Arguments const& arguments, Output const& output);

/// Lines that a result has by default.
inline constexpr std::size_t screen_lines = 25;

/// Removes rows from the block `table` until the document has at most `screen_lines` lines or the table `least_rows`, and returns whether it has; the
/// marked row, the first and the last stay.
bool fit_to_screen(Document& document, std::size_t table, std::size_t least_rows);

/// "framework megatron-core, sequence_length 8192, ...": what nobody stated, in one paragraph.
Paragraph assumed_in_short(std::vector<training::Assumption> const& assumptions);

} // namespace headroom::cli
