#pragma once

#include "trace/busy_intervals.hpp"

#include "headroom/trace/rank_digest.hpp"

namespace headroom::trace {

/// O(steps), and one pass over the kernels or over the trace where steps slow down or one takes much longer.
RunPace run_pace(RankTrace const& trace, BusyIntervals const& busy, std::vector<StepShares> const& steps);

/// From this factor over the median on a step is a long one.
inline constexpr double long_step = 1.5;
/// Number of steps below which none is called long.
inline constexpr std::size_t least_steps = 4;

} // namespace headroom::trace
