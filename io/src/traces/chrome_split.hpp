#pragma once

#include "traces/chrome_part.hpp"

#include "headroom/trace/rank_trace.hpp"

#include <vector>

namespace headroom::io {

/// Takes intervals out (`left_out`; empty: none), and makes a trace a rank where events state several: what says no rank
/// goes with its process, and with the first rank where that has none. Times stay as they are.
std::vector<trace::RankTrace> split_ranks(trace::RankTrace&& trace, std::vector<bool> const& left_out,
                                          std::vector<ChromePart::RankRow> const& ranks);

} // namespace headroom::io
