#pragma once

#include "headroom/laws/dag.hpp"
#include "headroom/timeline.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headroom::laws {

/// Order in which a list schedule starts the tasks that are ready; ties go to the smaller number.
enum class ListOrder {
    arrival,      ///< the one that became ready first
    longest_path, ///< the one with the longest chain of costs still to come, its own included
};
std::string_view name_of(ListOrder order); ///< "arrival", "longest-path"

/// Makespan and utilization of a list schedule.
struct ScheduleResult {
    Ticks makespan = 0;
    double utilization = 0.0; ///< busy time over workers times makespan; 0 where nothing takes time
    Timeline timeline;        ///< filled on request: tasks by number, in the order in which they are started
};

/// A greedy list schedule on K equal workers: no worker idles while a task is ready.
///
///     max(W/K, D) <= T <= W/K + (1 - 1/K) D
///
/// All tasks that end at a time are taken off before any is started at it; a task starts on the lowest free worker. A
/// task that costs nothing still needs a free worker, and ends when it starts: what waits for it becomes ready at the
/// same time, one round later. Lanes of the timeline are "worker 0", "worker 1", ..., as far as they are used.
/// Holds for:  any graph, any K >= 1; tasks are not interrupted. O((tasks + edges) log of tasks that run at once).
/// Assumes:    starting a task costs nothing.
/// Source:     [Graham1969]
ScheduleResult greedy_schedule(Dag const& dag, std::int64_t workers, ListOrder order = ListOrder::arrival,
                               bool with_timeline = false);

/// A resource of which several may be busy at once: a stream, a link, a pool of cores.
struct Resource {
    std::string name;
    std::int64_t capacity = 1;
};

/// Greedy schedule in which each task runs on the resource named for it: `resource_of[task]` is an index into
/// `resources`. A lane of the timeline is one instance of a resource: "NVLink", or "stream 0", "stream 1" where there
/// are several.
/// Holds for:  max(W_r / c_r, D) <= T <= sum over resources of W_r / c_r + D, W_r and c_r work and capacity of each.
/// Source:     [Graham1969]
ScheduleResult greedy_schedule(Dag const& dag, std::span<Resource const> resources,
                               std::span<std::uint16_t const> resource_of, ListOrder order = ListOrder::arrival,
                               bool with_timeline = false);

} // namespace headroom::laws
