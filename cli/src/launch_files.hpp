#pragma once

#include "arguments.hpp"
#include "output.hpp"
#include "verb.hpp"

#include "headroom/training/prediction.hpp"

#include <map>
#include <string>

namespace headroom::cli {

/// --from and --emit: for verbs that take a training question.
std::span<Option const> launch_options();
/// Options of `headroom inference`: commands of engines.
std::span<Option const> serving_launch_options();

/// Whether --from of this verb names launch files; `trace` has one that names a time.
bool takes_launch_files(Verb const& verb);

/// Adds what the files of --from state and the command line does not; notes say what was read, what was not, and what the
/// command line or a later file goes before. Places of what was added, by option: "--tp" is at "job.sh:12".
/// Errors: those of the reader of files, and InputError{unreadable} of `io::read_launch_file`.
std::map<std::string, std::string> add_launch_files(Arguments& arguments, Verb const& verb);

/// The command that predicts a configuration: what was given about model, machine and run, and every field of the strategy.
std::string predict_command(Arguments const& arguments, training::Question const& question);
/// Remark on that command where it states a framework that is assumed; empty elsewhere.
std::string assumed_framework_note(training::Question const& question);

/// Writes the launch file of --emit where the result would go, with notes on what it does not express. False without the
/// option. Errors: InputError{usage} for an unknown name.
bool write_launch(Arguments const& arguments, training::Question const& question, Output const& output);

} // namespace headroom::cli
