#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

/// Costs and simulated times are whole ticks, so that sums do not depend on their order; what a tick is worth
/// (an operation, a picosecond) is stated by the builder of the graph (`TaskGraph::per_tick`).
using Ticks = std::int64_t;

/// Intervals of work on lanes, by time: columns of equal length, one entry an interval; names are interned. Times are
/// whole ticks since the timeline's epoch: picoseconds in simulations of time, nanoseconds in traces, operations where
/// a graph counts those.
struct Timeline {
    std::vector<std::int64_t> begin, end;
    std::vector<std::uint32_t> lane; ///< index into `lanes`: a worker, a stream, a link
    std::vector<std::uint32_t> name; ///< index into `names`, or a task's number where `names` is empty
    std::vector<std::string> lanes, names;

    [[nodiscard]] std::size_t size() const { return begin.size(); }
};

} // namespace headroom
