#pragma once

#include "verb.hpp"

#include <span>

namespace headroom::cli {

/// A program of the verbs in `held`: one of them, its result, and the exit code; one line on standard error where something
/// went wrong.
int run_program(int argc, char** argv, std::span<MakeVerb const> held);

} // namespace headroom::cli
