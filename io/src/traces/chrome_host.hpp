#pragma once

#include "traces/chrome_part.hpp"

namespace headroom::io {

/// Where nothing ran on a device, communication of the host is communication: by the names of its ranges; in traces of
/// no known profiler also by words such as "allreduce" in them, by `MPI_`, and by threads that are called
/// communication, as their authors have nothing else to say it with.
void name_host_communication(ChromePart& part, bool known_profiler);

} // namespace headroom::io
