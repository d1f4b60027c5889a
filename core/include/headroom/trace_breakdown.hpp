#pragma once

#include "headroom/rank_trace.hpp"

#include <array>
#include <vector>

namespace headroom {

/// How a window of a rank's device was spent, from unions of intervals in whole nanoseconds.
///
///     window = compute + exposed + memory_only + idle
///     communication = overlap + exposed
///
/// Definitions are those of docs/guide/traces.md: compute and communication are unions of all streams; `overlap` is
/// their intersection; `memory_only` is what copies and fills cover and neither of the two does.
struct DeviceTimes {
    Ticks begin = 0, end = 0; ///< first and last moment of device work inside of the window; equal where there is none
    Ticks window = 0;
    Ticks busy = 0, idle = 0;
    Ticks compute = 0, communication = 0, memory = 0; ///< unions, each alone
    Ticks overlap = 0;                                ///< of communication with compute
    Ticks exposed = 0;                                ///< communication beside no compute
    Ticks memory_only = 0;
    Ticks overlap_any = 0;               ///< of communication with compute or memory
    std::array<std::int64_t, 3> count{}; ///< of intervals by compute, communication, memory
    std::array<Ticks, 3> total{};        ///< sums of their durations
};

/// Why a device had nothing to do: the gaps between the intervals of all of its streams.
///
///     host_bound   the call that launches what comes next began after the device had fallen idle
///     waiting      what comes next was launched in time and waits: for another stream, an event, or another rank
///     other        launched in time, on the stream that was busy last, within 30 us (a kernel's own start), or no launch is known
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

/// The device time of a window [begin, end), or of the whole file where none is given. Ranks without any device work
/// are measured on the host: `RankBreakdown::on_host`.
DeviceTimes device_times(RankTrace const& trace);
DeviceTimes device_times(RankTrace const& trace, Ticks begin, Ticks end);

/// Steps of a trace: its annotations; without any, detected from the repetition of kernels; empty where neither is.
std::vector<TraceStep> detected_steps(RankTrace const& trace);

/// What one rank's trace says of its own times.
struct RankBreakdown {
    bool on_host = false; ///< no device in the trace: threads of the host stand in (gloo, CPU training)
    DeviceTimes whole;
    IdleShares idle;
    bool steps_detected = false;
    std::vector<StepShares> steps;
    std::vector<NameTotal> names;    ///< of device work, longest total first, then by name
    std::int64_t without_launch = 0; ///< device intervals whose launch is not in the file
};
RankBreakdown breakdown_of(RankTrace const& trace);

} // namespace headroom
