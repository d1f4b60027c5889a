#pragma once

#include "headroom/laws/dag.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace headroom::laws::graph {

/// Number of tasks by which a memory line is prefetched. Three dependent lines of a task (its offset, its neighbours,
/// the state kept of them) follow each other. Neighbours lie anywhere, so that the walk does nothing but wait.
constexpr std::size_t tasks_ahead = 16;
/// Number of edges by which neighbours are prefetched when their list is read front to back.
constexpr std::size_t edges_ahead = 96;

/// Asks for the line to read, or to write.
inline void fetch(void const* line) { __builtin_prefetch(line, 0); }
inline void fetch_to_write(void const* line) { __builtin_prefetch(line, 1); }

/// Result of a walk over the tasks in dependency order.
struct Walk {
    std::unique_ptr<std::uint32_t[]> waits_for; ///< by task: neighbours before it that were not visited
    std::unique_ptr<TaskId[]> order;            ///< the tasks in the order of visits
    std::size_t visited = 0;                    ///< fewer than all of them where there is a cycle
};

/// A task may be visited when it waits for none: they come first, by number.
inline Walk begin_walk(Neighbours before) {
    std::size_t const tasks = before.first.size() - 1;
    Walk walk;
    walk.waits_for = std::make_unique_for_overwrite<std::uint32_t[]>(tasks);
    walk.order = std::make_unique_for_overwrite<TaskId[]>(tasks + 1); // a place is written before it is taken
    for (std::size_t v = 0; v < tasks; ++v) {
        walk.waits_for[v] = before.first[v + 1] - before.first[v];
        walk.order[walk.visited] = static_cast<TaskId>(v);
        walk.visited += walk.waits_for[v] == 0 ? 1 : 0;
    }
    return walk;
}

/// Visits each task after all those `before` it, in whatever order they are numbered [Kahn1962].
///     visitor.fetch_task(v), visitor.fetch_neighbour(w)   memory that will be needed soon
///     visitor.leave(v) -> value, visitor.reach(w, value)  v is visited; w comes after v
template <class Visitor> Walk walk_in_order(Neighbours before, Neighbours after, Visitor& visitor) {
    Walk walk = begin_walk(before);
    std::uint32_t const* const first = after.first.data();
    TaskId const* const neighbours = after.tasks.data();
    std::uint32_t* const waits_for = walk.waits_for.get();
    TaskId* const order = walk.order.get();
    std::size_t found = walk.visited;
    for (std::size_t i = 0; i < found; ++i) {
        if (i + 3 * tasks_ahead < found) { fetch(first + order[i + 3 * tasks_ahead]); }
        if (i + 2 * tasks_ahead < found) {
            TaskId const later = order[i + 2 * tasks_ahead];
            fetch(neighbours + first[later]);
            visitor.fetch_task(later);
        }
        if (i + tasks_ahead < found) {
            TaskId const soon = order[i + tasks_ahead];
            for (std::uint32_t e = first[soon]; e < first[soon + 1]; ++e) {
                fetch_to_write(waits_for + neighbours[e]);
                visitor.fetch_neighbour(neighbours[e]);
            }
        }
        TaskId const task = order[i];
        auto const value = visitor.leave(task);
        for (std::uint32_t e = first[task]; e < first[task + 1]; ++e) {
            TaskId const next = neighbours[e];
            visitor.reach(next, value);
            order[found] = next; // taken only if this was the last it waited for: no branch to guess wrong
            found += --waits_for[next] == 0 ? 1 : 0;
        }
    }
    walk.visited = found;
    return walk;
}

} // namespace headroom::laws::graph
