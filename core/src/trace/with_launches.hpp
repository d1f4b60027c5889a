#pragma once

#include "trace/launches.hpp"

#include "headroom/trace_breakdown.hpp"
#include "headroom/trace_path.hpp"

namespace headroom::trace {

// As the public functions of these names, where the launches are known already.
RankBreakdown breakdown_of(RankTrace const& trace, Launches const& launches, std::string_view step_name = {});
StepGraph step_graph(RankTrace const& trace, TraceStep const& step, CollectiveRuns const& runs,
                     Launches const& launches);

} // namespace headroom::trace
