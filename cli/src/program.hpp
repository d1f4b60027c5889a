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

/// Text of --help for a verb: its options by group, and examples, as wide as the terminal.
std::string help_of(Verb const& verb);

/// Text of -h: usage, the options that the examples use, and some of these; one screen.
std::string short_help_of(Verb const& verb);

/// The verbs of two words that begin with this one.
std::vector<Verb> subjects_of(std::string const& name);

/// Text of --help for the program: its verbs, where to read on, the meanings of exit codes.
std::string overview();

/// Words of a command line with the names of Headroom in the place of those that other tools have (`io::habit_words`):
/// "--gbs 512" as "--global-batch 512", "--bf16" as "--precision bf16", "--model X" as X, "2 trillion tokens" as one word.
/// `notes` receives the readings of names that tools use for different things.
/// Errors: InputError{usage} where two names of one option are given.
std::vector<std::string> in_own_words(Verb const& verb, std::vector<std::string> const& words,
                                      std::vector<std::string>& notes);

} // namespace headroom::cli
