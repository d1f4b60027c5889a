#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headroom::cli {

/// What the example workload prints: the time of its step.
inline constexpr char const* example_pattern = "step_seconds = ([0-9.eE+-]+)";

/// mpirun and headroom-step, which is built beside this program where there is MPI; `sized`: --problem is its batch, of
/// all workers or, `weak`, of each.
/// Errors: InputError{usage} where either program is missing.
std::vector<std::string> example_command(bool weak, bool sized);

/// Starts it once, on two workers. Errors: InputError{usage} where mpirun does not, and where headroom-step knows nothing
/// of MPI: then each process would do all the work, and every count would look alike.
void check_example(std::vector<std::string> const& command);

/// What lets mpirun start more processes than there are cores, and by whoever runs this.
std::vector<std::pair<std::string, std::string>> example_variables();

} // namespace headroom::cli
