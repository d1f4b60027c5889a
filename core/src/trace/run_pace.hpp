#pragma once

#include "trace/busy_intervals.hpp"

#include "headroom/trace/rank_digest.hpp"

#include <cstdint>
#include <utility>

namespace headroom::trace {

/// O(steps), and one pass over the kernels or over the trace where steps slow down or one takes much longer.
RunPace run_pace(RankTrace const& trace, BusyIntervals const& busy, std::vector<StepShares> const& steps);

/// Kind of work of a step: steps of one phase, and unless they are of decode, of equally many tokens, take equally long.
inline std::pair<PhaseKind, std::int64_t> work_of(StepPhase const& phase) {
    return {phase.kind, phase.kind == PhaseKind::decode ? 0 : phase.tokens};
}

/// From this factor over the median on a step is a long one.
inline constexpr double long_step = 1.5;
/// Number of steps below which none is called long.
inline constexpr std::size_t least_steps = 4;

} // namespace headroom::trace
