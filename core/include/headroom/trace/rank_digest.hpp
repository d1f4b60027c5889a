#pragma once

#include "headroom/executor.hpp"
#include "headroom/fields.hpp"
#include "headroom/trace/trace_breakdown.hpp"
#include "headroom/trace/trace_collectives.hpp"
#include "headroom/trace/trace_path.hpp"
#include "headroom/trace/trace_slowdown.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace headroom::trace {

/// Part of a trace that is asked for: times after its first event, or numbers of steps.
struct TraceSlice {
    Ticks from = 0, to = std::numeric_limits<Ticks>::max();
    std::int64_t first_step = -1, last_step = -1; ///< -1: not by steps
    [[nodiscard]] bool by_steps() const { return first_step >= 0; }
    [[nodiscard]] bool is_whole() const { return *this == TraceSlice{}; }
    bool operator==(TraceSlice const&) const = default;
};

/// Options for the digest of each rank's trace, made before the ranks are joined.
struct DigestQuestion {
    std::optional<std::int64_t> step =
        {}; ///< whose critical path is reported; empty: the middle one of those with work
    bool wants_path = true;
    bool wants_slowdown = false; ///< kernels with and without communication at the same time
    /// Name of the ranges of the host that are steps; empty: the profiler's own, else the ranges that repeat.
    std::string step_name = {};
    TraceSlice window = {}; ///< all else is of this part alone
};

/// A kernel with a count of its work, where shapes are recorded or a profiler counted.
struct ShapedKernel {
    std::string name, shape; ///< shape: empty where the work was counted while it ran
    std::int64_t count = 0;
    Ticks total = 0;
    double flops = 0.0; ///< of one run, the mean of all; 0: not counted
    double bytes = 0.0;
};

/// Change of a rank's pace in the course of its steps.
struct RunPace {
    /// Mean time of kernels over their mean in the first third of the steps; 1 where they do not slow down. Kernels slow
    /// down where steps have equally many, nine tenths of their time is of names that take at least half of the whole
    /// excess longer, and the last third is 3 % slower than the first.
    double slowing = 1.0;
    /// The range or call of the host that has most of what the longest step takes longer than the median one; empty where
    /// no step but the first takes half as long again as the median, or where less than half of it was recorded.
    std::string long_step_has;
    bool operator==(RunPace const&) const = default;
};

/// All that the answer needs of one rank: small against its trace, mergeable, independent of every other rank.
struct RankDigest {
    std::string source, format, host_name, rank_from;
    std::int64_t rank = 0;
    std::optional<std::int64_t> stated_rank; ///< by the trace itself; `rank` differs where another trace states it, too
    std::optional<std::int64_t> world_size;
    TraceDevice device;
    std::int64_t epoch_ns = 0;
    bool clock_is_absolute = false;
    std::uint64_t bytes_read = 0, text_bytes = 0, events = 0, spans = 0;
    RankBreakdown breakdown;
    RunPace pace;
    CollectiveRuns runs;
    std::vector<ShapedKernel> kernels;
    std::vector<KernelBeside> beside; ///< where they were asked for; partial results do not hold them
    std::optional<StepGraph> graph;
    std::vector<TraceIssue> issues;
};
FieldTable const& field_table_of(RankDigest const*);

/// The step nearest the middle of those in which anything ran, and no outlier: below 1.5 times the median one. The first
/// steps warm up, the last may be cut, and what a profiler kept of a step that it stopped in may be empty. A trace without
/// steps is one step.
TraceStep middle_step(RankTrace const& trace, RankBreakdown const& breakdown);

/// Everything that one rank's trace tells alone. A trace that does not say when things ran has no steps and no graph;
/// one of totals no runs of collectives either. `run`: for the parts that do not need each other; nothing depends on it.
RankDigest digest_of(RankTrace const& trace, DigestQuestion const& question = {}, Executor const& run = {});

} // namespace headroom::trace
