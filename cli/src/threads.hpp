#pragma once

#include "headroom/plan.hpp"

namespace headroom::cli {

/// Runs the tasks of a search on `threads` threads, handed out by index. With one, in order on the caller's.
Executor executor(int threads);

} // namespace headroom::cli
