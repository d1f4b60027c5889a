#pragma once

#include "trace/busy_intervals.hpp"
#include "trace/launches.hpp"
#include "trace/window_times.hpp"

#include "headroom/trace/trace_breakdown.hpp"
#include "headroom/trace/trace_path.hpp"

#include <string_view>
#include <vector>

namespace headroom::trace {

/// The first half of a breakdown: what ran, and in which steps. No launch is needed for it.
struct BreakdownDraft {
    BusyIntervals busy;
    std::vector<TraceWindow> windows;    ///< of the steps
    std::vector<TraceWindow> unrecorded; ///< between cycles of a profiler: no part of the whole
    RankBreakdown breakdown;             ///< times of the whole and of steps; nothing of idle time, names and launches
};
BreakdownDraft draft_breakdown(RankTrace const& trace, std::string_view step_name = {});
/// The second half.
void finish_breakdown(RankTrace const& trace, Launches const& launches, BreakdownDraft& draft);

/// Numbers the runs by the annotated step in which they were launched; without a known launch, in which they began.
void number_steps(RankTrace const& trace, Launches const& launches, CollectiveRuns& runs);

/// As the public function of this name, where the launches are known already.
StepGraph step_graph(RankTrace const& trace, TraceStep const& step, CollectiveRuns const& runs,
                     Launches const& launches);

} // namespace headroom::trace
