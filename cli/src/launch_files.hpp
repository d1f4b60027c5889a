#pragma once

#include "verb.hpp"

namespace headroom::cli {

/// --from and --emit: for verbs that take a training question.
std::span<Option const> launch_options();
/// Options of `headroom inference`: commands of engines.
std::span<Option const> serving_launch_options();

/// Whether --from of this verb names launch files; `trace` has one that names a time.
bool takes_launch_files(Verb const& verb);

/// Adds what the files of --from state and the command line does not; notes say what was read, what was not, and what the
/// command line or a later file goes before.
/// Errors: those of the reader of files, and InputError{unreadable} of `io::read_launch_file`.
void add_launch_files(Arguments& arguments, Verb const& verb);

} // namespace headroom::cli
