#pragma once

#include "traces/chrome_part.hpp"

namespace headroom::io {

/// Tells device work by the names of processes and threads, where no category does: XLA's profiler (JAX, TensorFlow;
/// GPU and TPU), AMD's rocprof and rpd, Ascend's, and Nsight Systems turned into Chrome's format. Those also draw
/// lanes that say the same time again (modules, steps, name scopes, an analysis of their own), which become
/// annotations; steps that they draw count where the host names none. Where a file holds several devices each becomes a
/// rank, by its number.
///
/// Changes nothing where categories tell device work, or no name does.
void name_device_lanes(ChromePart& part);

} // namespace headroom::io
