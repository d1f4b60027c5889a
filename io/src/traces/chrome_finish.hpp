#pragma once

#include "traces/chrome_metadata.hpp"
#include "traces/chrome_part.hpp"

#include "headroom/trace/rank_trace.hpp"

#include <string>
#include <vector>

namespace headroom::io {

/// Finishes the traces once all text is read: pairs ranges that begin and end apart, leaves out repeated events, moves
/// columns into traces. One trace, or one a rank where events themselves state several, or one process computes on several
/// devices.
std::vector<trace::RankTrace> finish_chrome(ChromePart&& part, ChromeMetadata const& metadata,
                                            std::string const& where);

} // namespace headroom::io
