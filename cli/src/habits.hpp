#pragma once

#include "verb.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// Words of a command line with the names of Headroom in the place of those that other tools have (`io::habit_words`):
/// "--gbs 512" as "--global-batch 512", "--bf16" as "--precision bf16", "--model X" as X, "2 trillion tokens" as one word.
/// `notes` receives the readings of names that tools use for different things.
/// Errors: InputError{usage} where two names of one option are given.
std::vector<std::string> in_own_words(Verb const& verb, std::vector<std::string> const& words,
                                      std::vector<std::string>& notes);

} // namespace headroom::cli
