#pragma once

#include "launch/shell_script.hpp"

#include <string>
#include <vector>

namespace headroom::io::launch {

/// Text that a command runs as a script, and the words that start it: "srun -N 2" of "srun -N 2 bash -c TEXT".
struct InnerText {
    std::string text;
    std::vector<Word> launcher;
};

/// Text of "eval TEXT", "bash -c TEXT", "sbatch --wrap TEXT" and "ssh HOST TEXT"; an empty one of another command.
InnerText inner_text(std::vector<Word> const& words);

} // namespace headroom::io::launch
