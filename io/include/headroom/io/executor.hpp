#pragma once

#include "headroom/executor.hpp"

namespace headroom::io {

/// Runs tasks on `threads` threads, handed out by index; what one throws is thrown again when all have ended. With one
/// thread it is empty: everything in order on the caller's.
Executor executor(int threads);

} // namespace headroom::io
