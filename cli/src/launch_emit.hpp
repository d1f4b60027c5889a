#pragma once

#include "arguments.hpp"
#include "output.hpp"

#include "headroom/training/prediction.hpp"

#include <string>

namespace headroom::cli {

/// The command that predicts a configuration: what was given about model, machine and run, and every field of the strategy.
std::string predict_command(Arguments const& arguments, training::Question const& question);

/// Writes the launch file of --emit where the result would go, with notes on what it does not express. False without the
/// option. Errors: InputError{usage} for an unknown name.
bool write_launch(Arguments const& arguments, training::Question const& question, Output const& output);

} // namespace headroom::cli
