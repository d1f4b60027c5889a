#pragma once

#include "verb.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// What --help says of a verb: its options by group, and examples; 80 columns.
std::string help_of(Verb const& verb);

/// The verbs of two words that begin with this one.
std::vector<Verb> subjects_of(std::string const& name);

/// What the program says of itself: its verbs, where to read on, what exit codes mean.
std::string overview();

} // namespace headroom::cli
