#pragma once

#include "headroom/trace/rank_trace.hpp"

namespace headroom::io {

/// Ends kernels and copies where the next one of their stream begins, and counts those that this shortens: a stream runs
/// one after the other, so a longer duration is a fault of the recording. Work of one launch (a graph) may overlap, as
/// may what overlaps by less than clocks round. O(n log n).
void clip_overlaps(trace::RankTrace& trace);

} // namespace headroom::io
