#pragma once

#include "headroom/training/stream_simulation.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace headroom::training::simulation {

inline constexpr laws::TaskId no_task = 0xFFFFFFFF;
inline constexpr Ticks never = std::numeric_limits<Ticks>::max();

/// Unfinished dependencies of a task.
struct Waiting {
    Ticks begin = 0;             ///< latest end so far among the dependencies
    std::uint32_t tasks = 0;     ///< dependencies that have not ended, including the previous task on its stream
    laws::TaskId last = no_task; ///< smallest number among the dependencies that ended at `begin`
};

/// Dependencies of a program: 24 bytes a task and 4 an edge.
struct StreamOrder {
    std::vector<std::uint32_t> first;          ///< the tasks that wait for v are followers[first[v]] up to first[v + 1]
    std::unique_ptr<laws::TaskId[]> followers; ///< by edge
    std::vector<laws::TaskId> next;            ///< by task: the one after it on its stream
    std::vector<laws::TaskId> head;            ///< by stream: its first task
    std::unique_ptr<Waiting[]> waiting;        ///< by task
    std::size_t tasks = 0;

    /// Calls ready(task) with those that waited only for `ended`, which ended at `now`.
    template <class Ready> void end(laws::TaskId ended, Ticks now, Ready ready) {
        std::uint32_t const last = first[ended + std::size_t{1}];
        for (std::uint32_t e = first[ended]; e < last; ++e) { release(followers[e], ended, now, ready); }
        if (next[ended] != no_task) { release(next[ended], ended, now, ready); }
    }
    /// Calls ready(task) with those that wait for none.
    template <class Ready> void begin(Ready ready) const {
        for (laws::TaskId const task : head) {
            if (task != no_task && waiting[task].tasks == 0) { ready(task); }
        }
    }

private:
    template <class Ready> void release(laws::TaskId task, laws::TaskId ended, Ticks now, Ready& ready) {
        Waiting& wait = waiting[task];
        if (now > wait.begin) {
            wait.begin = now;
            wait.last = ended;
        } else if (now == wait.begin) {
            wait.last = std::min(wait.last, ended);
        }
        if (--wait.tasks == 0) { ready(task); }
    }
};

/// Sorts the dependencies of a program that `check_program` accepted.
StreamOrder order_of(StreamProgram const& program);

} // namespace headroom::training::simulation
