#pragma once

#include "trace/busy_intervals.hpp"

#include "headroom/trace/trace_breakdown.hpp"

#include <span>
#include <vector>

namespace headroom::trace {

struct TraceWindow {
    Ticks begin = 0, end = 0;
};

/// Times of all intervals: the window is from the first begin to the last end.
DeviceTimes times_of_all(std::span<BusyInterval const> intervals);

/// Times in each window, intervals clipped to it, in one pass over intervals and windows however windows overlap:
/// O(n log c + w log w) for c intervals at one time. Intervals of no length count in none.
std::vector<DeviceTimes> times_in(std::span<BusyInterval const> intervals, std::span<TraceWindow const> windows);

} // namespace headroom::trace
