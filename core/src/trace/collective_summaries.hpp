#pragma once

#include "headroom/trace/trace_collectives.hpp"

#include <span>
#include <vector>

namespace headroom::trace {

/// A run that no other rank has a partner of.
struct LoneRun {
    std::uint32_t rank = 0; ///< index into the ranks
    std::uint32_t run = 0;
    std::int32_t ranks = 0; ///< of its group
};

/// Collectives of one name, size and group size together, the longest first; equal ones by name, ranks,
/// size. Runs without a partner count, with their durations as they are.
std::vector<CollectiveSummary> summaries_of(std::vector<MatchedCollective> const& matched,
                                            std::vector<LoneRun> const& lone, std::span<RankRuns const* const> order);

/// Times that each rank waited and that others waited for it.
std::vector<RankWaiting> waiting_of(std::vector<MatchedCollective> const& matched,
                                    std::span<RankRuns const* const> order);

} // namespace headroom::trace
