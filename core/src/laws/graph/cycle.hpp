#pragma once

#include "headroom/laws/dag.hpp"

#include <optional>
#include <span>

namespace headroom::laws::graph {

/// One cycle of the graph, if it has any, and the edge among `edges` that closes it.
std::optional<GraphFault> cycle_of(Dag const& dag, std::span<Edge const> edges);

} // namespace headroom::laws::graph
