#pragma once

#include "trace/busy_intervals.hpp"
#include "trace/window_times.hpp"

#include "headroom/trace/trace_breakdown.hpp"

#include <vector>

namespace headroom::trace {

/// Device time from the first to the last device work of a trace, or of a window [begin, end).
inline DeviceTimes device_times(RankTrace const& trace) { return breakdown_of(trace).whole; }
inline DeviceTimes device_times(RankTrace const& trace, Ticks begin, Ticks end) {
    TraceWindow const window{begin, end};
    return times_in(busy_intervals(trace).intervals, {&window, 1}).front();
}

/// Steps of a trace: its annotations; without any, detected from what repeats.
inline std::vector<TraceStep> detected_steps(RankTrace const& trace) {
    std::vector<TraceStep> steps;
    for (StepShares const& one : breakdown_of(trace).steps) { steps.push_back(one.step); }
    return steps;
}

} // namespace headroom::trace
