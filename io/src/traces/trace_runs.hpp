#pragma once

#include "headroom/trace/rank_digest.hpp"

#include <vector>

namespace headroom::io {

/// Leaves out all but the first of traces of the same content ("rank0.json" and "rank0.json.gz"), and counts them.
/// Files whose names give them different ranks are kept: each may have been meant.
void leave_copies_out(std::vector<trace::RankDigest>& digests);

} // namespace headroom::io
