#pragma once

#include "verb.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// Text of --help for a verb: its options by group, and examples, as wide as the terminal.
std::string help_of(Verb const& verb);

/// Text of -h: usage, the options that the examples use, and some of these; one screen.
std::string short_help_of(Verb const& verb);

/// The verbs of two words that begin with this one.
std::vector<Verb> subjects_of(std::string const& name);

/// Text of --help for the program: its verbs, where to read on, the meanings of exit codes.
std::string overview();

} // namespace headroom::cli
