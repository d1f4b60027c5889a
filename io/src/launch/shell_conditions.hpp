#pragma once

#include "launch/shell_variables.hpp"

#include <initializer_list>
#include <string_view>
#include <vector>

namespace headroom::io::launch {

enum class Truth { no, yes, unknown };

/// Whether a command succeeds that tests something: "[ a = b ]", "(( a > b ))", "! true". Another command is unknown.
/// Variables that the script does not set count as empty; those names are in `met_unset`.
Truth truth_of(RawCommand const& command, Expansion& expand);

/// Whether a word is a variable by itself, which may hold "true" or "false": "$USE_FP8".
bool holds_truth(std::string_view word);

/// Variables after one of several ways through a script.
Variables merged(std::vector<Variables> const& ways);

/// Commands with each reserved word as a command of its own.
std::vector<RawCommand> by_reserved_words(std::vector<RawCommand> const& commands);

/// Commands between the brace or parenthesis at `at` and the one that closes it, behind which `at` is moved.
std::vector<RawCommand> enclosed_in(std::vector<RawCommand> const& commands, std::size_t& at);

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list);

} // namespace headroom::io::launch
