#pragma once

#include <optional>

namespace headroom::cli {

/// `headroom trace` as one of several processes of a job (mpirun, srun): becomes `headroom-mpi`, which lies beside it and
/// shares the files among the processes. Where that is missing, the first process says so and goes on alone; the others
/// have nothing to do. Returns an exit code where this process is done.
std::optional<int> relay_to_mpi(int argc, char** argv);

} // namespace headroom::cli
