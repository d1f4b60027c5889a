#pragma once

#include "headroom/dag.hpp"
#include "headroom/timeline.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// Which of the tasks that could run goes first; ties go to the smaller number.
enum class ListOrder {
    arrival,      ///< the one that became ready first
    longest_path, ///< the one with the longest chain of costs still to come
};

/// What a list schedule comes to.
struct ScheduleResult {
    Ticks makespan = 0;
    double utilization = 0.0; ///< busy time over workers times makespan; 0 of an empty graph
    Timeline timeline;        ///< filled on request
};

/// A greedy list schedule on K equal workers: no worker idles while a task is ready.
///
///     max(W/K, D) <= T <= W/K + (1 - 1/K) D
///
/// Holds for:  any graph, K >= 1; tasks are not interrupted.
/// Assumes:    starting a task costs nothing.
/// Source:     [Graham1969]
ScheduleResult greedy_schedule(Dag const& dag, std::int64_t workers, ListOrder order = ListOrder::arrival,
                               bool with_timeline = false);

/// A resource of which several may be busy at once: a stream, a link, a pool of cores.
struct Resource {
    std::string name;
    std::int64_t capacity = 1;
};

/// The same where each task runs on the resource named for it: `resource_of[task]` is an index into `resources`.
/// A lane of the timeline is one unit of a resource.
/// Holds for:  T <= sum over resources of W_r / c_r + D.
/// Source:     [Graham1969]
ScheduleResult greedy_schedule(Dag const& dag, std::span<Resource const> resources,
                               std::span<std::uint16_t const> resource_of, ListOrder order = ListOrder::arrival,
                               bool with_timeline = false);

} // namespace headroom
