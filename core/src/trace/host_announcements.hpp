#pragma once

#include "headroom/trace/rank_trace.hpp"

#include <limits>
#include <vector>

namespace headroom::trace {

inline constexpr std::uint32_t unannounced = std::numeric_limits<std::uint32_t>::max();

/// For each of these spans of a device, the name (into `timeline.names`) of the range of the host, "nccl:all_to_all",
/// inside of which it was launched; `unannounced` where there is none. Asked only of spans whose own name or whose
/// entry in `collectives` does not tell the collective. O(n) in spans, O(m log m) in ranges and launches.
std::vector<std::uint32_t> host_announcements(RankTrace const& trace, std::vector<std::uint32_t> const& spans);

} // namespace headroom::trace
