#pragma once

#include "launch/shell_words.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io::launch {

/// A word of a command, with variables put in. A variable that the script does not set stands as it is: "$DATA".
struct Word {
    std::string text;
    int line = 0;
    bool quoted = false;
};

/// A command as it runs. Where a variable has several values, by a loop or a condition that cannot be evaluated, there is one
/// reading for each.
struct ShellCommand {
    std::vector<std::vector<Word>> readings;
    int line = 0;
};

/// A script as far as it can be run without its machine: variables, arrays, conditions, loops, functions, arithmetic.
struct ShellScript {
    std::vector<ShellCommand> commands;
    std::vector<Entry> headers;
    std::vector<ShellCommand> variables; ///< values of variables that no command uses, as words
    std::vector<Heredoc> heredocs;
    std::vector<std::string> notes; ///< conditions on variables that the script does not set
    bool too_large = false;         ///< it was not read to its end
};

/// `before` is a script whose variables and functions hold in it: that which "source" names.
ShellScript run_shell(std::string_view text, std::string_view before = {});

} // namespace headroom::io::launch
