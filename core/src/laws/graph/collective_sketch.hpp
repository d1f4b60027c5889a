#pragma once

#include "builders.hpp"

namespace headroom::laws::builders {

/// Amount that one combine of a collective adds up.
enum class Reduces { nothing, whole_vectors, chunks };

/// The graph of a collective over P ranks: messages, which cost nothing unless they are given a cost, and combines.
/// A message runs on the sending rank's port and a combine on the rank itself, so that both can be scheduled where
/// they happen; edges are data alone.
class CollectiveSketch {
public:
    CollectiveSketch(GraphSize size, std::int64_t ranks, Reduces reduces);

    /// A message of what `from` holds since the task `sends`; empty: since the beginning.
    TaskId message(std::size_t from, std::optional<TaskId> sends);
    /// `at` adds what `arrives` to what it holds since the task `held`; empty: since the beginning.
    TaskId combine(std::size_t at, TaskId arrives, std::optional<TaskId> held, Ticks cost = 1);
    /// `task` needs what arrived by `message` too.
    void also_after(TaskId task, TaskId message) { sketch_.after(task, message); }
    void note(std::string text) { sketch_.note(std::move(text)); }

    TaskGraph finish() && { return std::move(sketch_).finish(); }

private:
    void place(std::size_t resource);
    Sketch sketch_;
    std::size_t first_port_ = 0; ///< index of rank 0's port among the resources
};

} // namespace headroom::laws::builders
