#pragma once

#include "launch/shell_script.hpp"

#include <vector>

namespace headroom::io::launch {

/// Options of a command that starts a serving engine: an entry named like the engine, its options, short ones too, and its first
/// other word as "MODEL". None for another command.
std::vector<Entry> engine_entries(std::vector<Word> const& words);

} // namespace headroom::io::launch
