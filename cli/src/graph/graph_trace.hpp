#pragma once

#include "headroom/laws/task_graph.hpp"
#include "headroom/timeline.hpp"

#include <string>

namespace headroom::cli {

/// A schedule of a graph as a Chrome trace: JSON that trace viewers open. Every task is a complete event of its lane,
/// named after the task or its kind. A tick is as many microseconds as it is in the graph's unit where that is seconds,
/// else one.
std::string graph_trace(Timeline const& timeline, laws::TaskGraph const& graph);

} // namespace headroom::cli
