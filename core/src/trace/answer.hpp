#pragma once

#include "headroom/laws/roofline.hpp"
#include "headroom/trace/trace_answer.hpp"

#include <cstdint>
#include <vector>

namespace headroom::trace {

/// Number of workers of the run; empty where no trace states it. A wrong statement is counted as an issue.
std::optional<std::int64_t> workers_of(std::vector<RankDigest> const& ranks, std::optional<std::int64_t> stated,
                                       std::vector<TraceIssue>& issues);

/// Ranks missing, there twice, or beyond the world; steps that differ. `ranks` are sorted.
void add_meeting_issues(std::vector<RankDigest> const& ranks, std::optional<std::int64_t> workers,
                        std::vector<TraceIssue>& issues);

/// s, gamma, overlap, ceilings and speedups from the sums over ranks.
void add_split(TraceAnswer& answer);

/// Over steps: of each the slowest rank.
std::optional<Percentiles> step_percentiles(std::vector<RankDigest> const& ranks);

/// Phases that steps state; empty where none does.
std::vector<PhaseSummary> phases_of(std::vector<RankDigest> const& ranks);

std::vector<Straggler> stragglers_of(std::vector<RankDigest> const& ranks, CollectiveAnswer const& collectives);

/// Matches collectives of all ranks and finds the path through their graphs. Both are as the headers of
/// `match_collectives` and `critical_path` say; ranks lend their runs and graphs and have them back afterwards.
void add_collectives(TraceAnswer& answer);
void add_path(TraceAnswer& answer, Executor const& run, RunSigns signs);

/// Signs of the run that advice rests on: who is late and why, steps that differ, kernels that slow down or are far from
/// the roofline of `machine`. Collectives are matched already, and ranks have their graphs.
RunSigns run_signs(TraceAnswer const& answer, std::optional<laws::Processor> const& machine);

} // namespace headroom::trace
