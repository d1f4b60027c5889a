#pragma once

#include "headroom/trace/rank_digest.hpp"

namespace headroom::trace {

/// The part of a trace in a window: intervals clipped to it, ranges that reach out of it dropped. Calls before the window
/// stay where they started work in it, as intervals of no length at its begin. O(n).
/// Errors: InputError{insufficient} where the window holds no interval, or no step of the numbers that it names.
RankTrace cut_trace(RankTrace const& trace, DigestQuestion const& question);

} // namespace headroom::trace
