#pragma once

#include <optional>

namespace headroom::cli {

/// Verbs that the processes of a job work on together, as one of several processes of a job (mpirun, srun): becomes
/// `headroom-mpi`, which lies next to it. Where that is missing, the first process says so: it reads traces alone, and
/// measures no communication; the others have nothing to do. Returns an exit code where this process is done.
std::optional<int> relay_to_mpi(int argc, char** argv);

} // namespace headroom::cli
