#pragma once

#include "output.hpp"

#include "headroom/document/document.hpp"
#include "headroom/training/assume.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// Removes rows from the block `table` until the document has at most the lines of `screen` or the table `least_rows`, and returns whether it has; the
/// marked row, the first and the last stay.
bool fit_to_screen(Document& document, std::size_t table, std::size_t least_rows, ScreenSize screen);

/// "framework megatron-core, sequence_length 8192, ...": what nobody stated, in one paragraph.
/// `rest`: where the others are; `most`: how many are named.
Paragraph assumed_in_short(std::vector<training::Assumption> const& assumptions,
                           std::string const& rest = "--full has all, with reasons", std::size_t most = 4);

/// A command over lines of a screen, as a shell takes it.
Verbatim command_block(std::string const& command, ScreenSize screen);

} // namespace headroom::cli
