#pragma once

#include "launch/launch_entries.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io::launch {

/// A word as the script has it, its quotes and variables among it. An array, A=(x y), is the word "A=" with its items.
struct RawWord {
    std::string text;
    std::vector<int> lines; ///< of each character
    bool is_array = false;
    std::vector<RawWord> items;
    [[nodiscard]] int line() const { return lines.empty() ? 0 : lines.front(); }
};

/// End of a command: the next one follows, or depends on it.
enum class CommandEnd { next, both, either, background, pattern, clause };

struct RawCommand {
    std::vector<RawWord> words;
    CommandEnd end = CommandEnd::next; ///< ";", "&&", "||", "&", ")" of a case, ";;"
    int line = 0;
    int heredoc = -1; ///< index of the text behind "<<"; -1: none
};

/// A script taken apart: comments and redirections are left out.
struct ShellText {
    std::vector<RawCommand> commands;
    std::vector<Entry> headers;      ///< "#SBATCH --nodes" and its value
    std::vector<Entry> late_headers; ///< headers behind the first command, which Slurm does not read
    std::vector<Heredoc> heredocs;
};

/// `lines` has the line of each character of a text that stands inside a script; empty: the text begins with `line`.
ShellText shell_text(std::string_view text, std::vector<int> const& lines = {}, int line = 1);

/// Position behind the part that begins at `at`: of "$(", "${", "$((" and of a quotation.
std::size_t end_of_part(std::string_view text, std::size_t at);

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Options of Slurm on a line: "-p batch -N 32", "-N4", "--nodes=4". Keys begin with `prefix`.
void add_slurm_options(std::vector<std::string> const& words, std::string const& prefix, int line,
                       std::vector<Entry>& entries);

} // namespace headroom::io::launch
