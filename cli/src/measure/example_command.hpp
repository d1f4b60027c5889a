#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headroom::cli {

/// What the example workload prints: the time of its step.
inline constexpr char const* example_pattern = "step_seconds = ([0-9.eE+-]+)";

/// mpirun and headroom-step, which is built beside this program where there is MPI.
/// Errors: InputError{usage} where either is missing.
std::vector<std::string> example_command();

/// What lets mpirun start more processes than there are cores, and by whoever runs this.
std::vector<std::pair<std::string, std::string>> example_variables();

} // namespace headroom::cli
