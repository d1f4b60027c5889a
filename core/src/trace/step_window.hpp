#pragma once

#include "trace/launches.hpp"

#include "headroom/trace/rank_trace.hpp"

#include <cstdint>
#include <vector>

namespace headroom::trace::path {

/// Work of a lane outside of threads: a kernel, a copy, or a transfer of a host's own thread (gloo).
struct LaneWork {
    std::uint32_t span = 0, lane = 0;
    Ticks begin = 0, end = 0;    ///< inside of the window
    std::uint32_t caller = none; ///< the call that launched it, where that is in the file
    Ticks launched = 0;          ///< begin of the call; of unknown ones the window's begin
    bool transfer = false;       ///< of a host's thread
};

/// Window of a step in a trace: [begin, host_end) of its threads, and [begin, end) of its devices. `end` is later than
/// `host_end` by the time that the device fell further behind the host in the step: the work of the step is done then,
/// or the device is as far behind as it was when the step began.
struct StepWindow {
    Ticks begin = 0, host_end = 0, end = 0;
    std::uint32_t main_lane = none;                ///< the thread of the step
    std::vector<std::uint32_t> host_lanes;         ///< threads with work in the window, the main one first
    std::vector<std::vector<std::uint32_t>> spans; ///< of each of them: by begin, what nests after what it nests in
    std::vector<std::uint32_t> work_lanes;         ///< streams, and threads that only transfer
    std::vector<std::vector<LaneWork>> work;       ///< of each of them, by begin
    std::size_t without_launch = 0;                ///< work whose call is not in the file
};

StepWindow step_window(RankTrace const& trace, TraceStep const& step, Launches const& launches);

} // namespace headroom::trace::path
