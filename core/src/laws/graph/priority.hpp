#pragma once

#include "ready_lists.hpp"

#include "headroom/laws/dag.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::laws::graph {

/// A graph whose tasks are numbered by what goes first: by pool, then the longest way to the end of the graph, then the
/// number in the graph it was made of. A schedule runs through such numbers nearly in order, and so through its memory.
struct Renumbered {
    std::vector<TaskId> original; ///< by new number
    std::vector<Ticks> costs;
    std::vector<std::uint16_t> resource_of; ///< empty: there is one pool
    std::vector<std::uint32_t> waits_for;   ///< predecessors
    std::vector<std::uint32_t> first;
    std::vector<TaskId> successors;
};

Renumbered by_longest_path(Dag const& dag, std::size_t pools, PoolOf pool_of);

} // namespace headroom::laws::graph
