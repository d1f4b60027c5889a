#pragma once

#include "headroom/stream_simulation.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace headroom::simulation {

inline constexpr TaskId no_task = 0xFFFFFFFF;

/// What follows what in a program: 8 bytes a task and 4 an edge.
struct StreamOrder {
    std::vector<std::uint32_t> first;           ///< the tasks that wait for v are waiting[first[v]] up to first[v + 1]
    std::unique_ptr<TaskId[]> waiting;          ///< by edge
    std::vector<TaskId> next;                   ///< by task: the one after it on its stream
    std::vector<TaskId> head;                   ///< by stream: its first task
    std::unique_ptr<std::uint32_t[]> waits_for; ///< by task: how many, the one before it on its stream counted
};

/// Sorts the edges of a program that was checked.
StreamOrder order_of(StreamProgram const& program);

} // namespace headroom::simulation
