#pragma once

#include <functional>
#include <vector>

namespace headroom {

/// Runs task(0) .. task(count - 1), each once, in any order and on any threads, and returns when all are
/// done. The core starts no thread of its own: a face that has some hands them in here.
using Executor = std::function<void(int count, std::function<void(int)> const& task)>;

/// Calls `task` with 0 to count - 1 on the executor, or, without one, in that order on the caller's thread.
inline void run_each(Executor const& executor, int count, std::function<void(int)> const& task) {
    if (executor) { return executor(count, task); }
    for (int i = 0; i < count; ++i) { task(i); }
}

/// Different things at the same time; no more threads are taken than there are things.
inline void run_beside(Executor const& executor, std::vector<std::function<void()>> const& things) {
    run_each(executor, static_cast<int>(things.size()), [&](int i) { things[static_cast<std::size_t>(i)](); });
}

} // namespace headroom
