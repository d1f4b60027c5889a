#pragma once

#include "headroom/trace/rank_trace.hpp"

#include <cstdint>
#include <vector>

namespace headroom::trace {

/// Interval in which a rank is occupied, with its span in the trace.
struct BusyInterval {
    Ticks begin = 0, end = 0;
    std::uint32_t span = 0;
    SpanKind kind = SpanKind::compute; ///< of the first three
};

/// All of them by begin, of equal ones the earlier in the trace first.
struct BusyIntervals {
    bool on_host = false; ///< threads stand in for a device that the trace does not have
    std::vector<BusyInterval> intervals;
};

/// Work of the device; of the host's threads (`host_work`) where there is none.
BusyIntervals busy_intervals(RankTrace const& trace);

/// Work of threads of the host in traces without a device, see `RankBreakdown::on_host`. Not in order.
std::vector<BusyInterval> host_work(RankTrace const& trace);

} // namespace headroom::trace
