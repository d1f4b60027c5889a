#pragma once

#include "verb.hpp"

namespace headroom::cli {

/// The options of `comm` that belong to --fit, and what it does with them: collectives that were measured.
std::span<Option const> comm_fit_options();
std::span<Positional const> comm_fit_positionals();
/// `others`: options of `comm` that do not belong to it.
int run_comm_fit(Arguments const& arguments, std::span<Option const> others);

/// Errors: InputError{usage} on what only fitting takes, given without it.
void check_no_comm_fit(Arguments const& arguments);

} // namespace headroom::cli
