#pragma once

namespace headroom::cli {

/// The whole program: a verb, its result, and the exit code; one line on standard error where something went wrong.
int run_program(int argc, char** argv);

} // namespace headroom::cli
