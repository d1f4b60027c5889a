#pragma once

#include "verb.hpp"

#include "headroom/error.hpp"

#include <span>
#include <string>
#include <vector>

namespace headroom::cli {

/// A program of the verbs in `held`: one of them, its result, and the exit code; one line on standard error where something
/// went wrong. Sets up the process: what Ctrl-C and failed allocations do.
int run_program(int argc, char** argv, std::span<MakeVerb const> held);

/// The verbs that this process knows; before any thread asks for one.
void hold_verbs(std::span<MakeVerb const> held);

/// One of them, from the words behind the program's name, in a process that is set up by others. `error`, where not null,
/// gets the parts of the line of a refused input.
/// Errors: std::bad_alloc; every other exception is a fault of the program.
int run_words(std::vector<std::string> words, ErrorText* error = nullptr);

} // namespace headroom::cli
