#pragma once

#include "headroom/trace/rank_trace.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace headroom::trace {

/// Division of a window of a rank's device time, from unions of intervals in whole nanoseconds.
///
///     window = compute + exposed + memory_only + idle
///     communication = overlap + exposed
///
/// Definitions are those of docs/guide/traces.md: compute and communication are unions of all streams; `overlap` is
/// their intersection; `memory_only` is what copies and fills cover and neither of the two does. Intervals are clipped
/// to the window; one of no length is counted in the whole file and in no step; it opens no window.
struct DeviceTimes {
    Ticks begin = 0, end = 0; ///< first and last moment of device work inside of the window; equal where there is none
    Ticks window = 0;         ///< of a whole file without the times between two cycles of its profiler
    Ticks busy = 0, idle = 0;
    Ticks compute = 0, communication = 0, memory = 0; ///< unions, each alone
    Ticks overlap = 0;                                ///< of communication with compute
    Ticks exposed = 0;                                ///< communication without compute at the same time
    Ticks memory_only = 0;
    Ticks overlap_any = 0;               ///< of communication with compute or memory
    std::array<std::int64_t, 3> count{}; ///< of intervals by compute, communication, memory
    std::array<Ticks, 3> total{};        ///< sums of their durations
};

/// Why a device had nothing to do: the gaps between the intervals of all of its streams, by what ends them.
///
///     host_bound   the call that launches what comes next began after the device had fallen idle: until that call had
///                  returned and 30 us had passed, which a kernel may need to start; after the last interval all
///     waiting      the rest of such a gap, and all of a gap whose end was launched before it began: what comes next
///                  waits for another stream, an event, a copy, or another rank
///     other        launched before, on the stream that was busy last, within 30 us (a kernel's own start); no launch
///                  is known; no device
///
/// A gap that reaches into a window counts with its part inside.
struct IdleShares {
    Ticks host_bound = 0, waiting = 0, other = 0; ///< sum to the idle time of the window
};

/// One step of one rank, clipped to its window on the host.
struct StepShares {
    TraceStep step;
    bool detected = false; ///< from repetition, not from an annotation
    DeviceTimes shares;
    IdleShares idle;
};

/// All intervals of one name and kind.
struct NameTotal {
    std::string name;
    SpanKind kind = SpanKind::compute;
    std::int64_t count = 0;
    Ticks total = 0, shortest = 0, longest = 0;
};

/// Share of device work outside of all steps from which it is no longer the rest of the last step.
inline constexpr double much_outside = 0.2;

/// Times, steps and kernels of one rank, from its trace alone.
///
/// Without a device (gloo, training on CPUs) threads of the host stand in for streams. Communication is the union of
/// their communication intervals (`gloo:*`). Compute is the union of the outermost operators of all threads: names with
/// a namespace ("aten::mm", "autograd::engine::...") and backward functions; in a trace without any, intervals in which
/// nothing nests. Ranges around operators (steps, "forward", functions of Python) are not work, nor is what asks for
/// communication or waits for it (`c10d::*`, `*::wait`, synchronization), wherever it nests. Memory is 0.
struct RankBreakdown {
    bool on_host = false; ///< no device in the trace
    /// The trace states durations and no times of day: sums are right, all communication counts as exposed, and neither
    /// overlap nor idle time is known.
    bool only_sums = false;
    DeviceTimes whole;
    IdleShares idle;
    bool steps_detected = false;
    std::int64_t outside_steps = 0; ///< device intervals that lie outside of all annotated steps
    double outside_share = 0.0;     ///< of the device work, by its durations
    std::vector<StepShares> steps;
    std::vector<NameTotal> names;    ///< of device work, longest total first, then by name
    std::int64_t without_launch = 0; ///< device intervals whose launch is not in the file
    std::int64_t launches = 0;       ///< calls of the host that start kernels
    std::int64_t without_work = 0;   ///< of them, those whose work is not in the file
    bool work_missing = false;       ///< much of the run's device work is not in the file: sums are too small
};
/// `step_name`: of the outermost ranges of the host that are steps, or a part of their names where none has just that one;
/// empty: the profiler's own steps, without any what repeats.
RankBreakdown breakdown_of(RankTrace const& trace, std::string_view step_name = {});

} // namespace headroom::trace
