#pragma once

#include "headroom/fields.hpp"
#include "headroom/network/collective.hpp"
#include "headroom/trace/rank_trace.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::trace {

/// Properties that runs of one collective on a rank share.
struct CollectiveLabel {
    std::string name; ///< of the kernel, without its arguments
    std::string what; ///< as the trace states it, else what the host or the kernel's name says; empty: none does
    std::optional<network::Collective> collective;
    std::string group; ///< name of the group, the same on all of its ranks; empty: not stated
    std::vector<std::int32_t> group_ranks;
    std::int32_t group_size = 0; ///< 0: not stated
    bool operator==(CollectiveLabel const&) const = default;
};

/// One run of a collective on one rank.
struct CollectiveRun {
    std::uint32_t label = 0;    ///< into `CollectiveRuns::labels`
    std::uint32_t lane = 0;     ///< of the rank's trace
    std::uint32_t span = 0;     ///< of its timeline
    Ticks begin = 0, end = 0;   ///< nanoseconds after the rank's epoch
    std::int64_t bytes = 0;     ///< total bytes of our convention (`TotalBytes`); 0: not stated
    std::int64_t sequence = -1; ///< stated; -1: by order
    std::int64_t step = -1;     ///< number of the annotated step that launched it; -1: none
    bool operator==(CollectiveRun const&) const = default;
};

/// Every run of a collective on a rank, by begin.
struct CollectiveRuns {
    std::vector<CollectiveLabel> labels;
    std::vector<CollectiveRun> runs;

    [[nodiscard]] std::size_t size() const { return runs.size(); }
    [[nodiscard]] bool empty() const { return runs.empty(); }
    [[nodiscard]] CollectiveLabel const& label_of(CollectiveRun const& run) const { return labels[run.label]; }
    bool operator==(CollectiveRuns const&) const = default;
};

/// The runs of collectives on a rank: communication on its devices, and transfers of the host's own (gloo, MPI). A
/// kernel whose name says only that it sends and receives is identified by the range of the host that launched it.
///
/// Bytes count the whole vector once, from elements in and out: all-reduce, reduce and broadcast in; all-gather out;
/// reduce-scatter in; all-to-all what a rank holds for all; gather and scatter the shard times the ranks.
CollectiveRuns collective_runs(RankTrace const& trace);

/// The collective that a word of a trace means: "_allgather_base", "allreduce_coalesced", "all_to_allv",
/// "nccl:send 0->1". Empty for others.
std::optional<network::Collective> traced_collective(std::string_view word);
/// The collective that a kernel's name tells: "ncclDevKernel_AllReduce_Sum_f16_RING_LL(...)". Empty where it does not:
/// "ncclDevKernel_Generic", and "SendRecv", which may be an all-to-all or two ranks alone.
std::optional<network::Collective> collective_of_kernel(std::string_view name);
/// Bytes of an element of a type as traces write it: "Float", "c10::BFloat16", "bf16", "Long"; 0 for others.
std::int32_t element_bytes_of(std::string_view data_type);

/// The runs of one rank, and where its clock stands.
struct RankRuns {
    std::int64_t rank = 0;
    std::int64_t epoch_ns = 0;
    bool clock_is_absolute = false;
    std::string host_name;
    CollectiveRuns runs;
};

/// The k-th collective of a group on all ranks that have it.
struct MatchedCollective {
    std::string name, what, group;
    std::optional<network::Collective> collective;
    std::int64_t bytes = 0;
    std::int32_t ranks = 0;             ///< of the group
    std::vector<std::int64_t> members;  ///< ranks that were matched
    std::vector<std::uint32_t> runs;    ///< by member: the number of its run in `CollectiveRuns::runs`
    std::vector<Ticks> begin, end;      ///< by member, on the common clock
    std::int64_t last_arriver = 0;      ///< the rank with the last begin
    Ticks start_skew = 0, end_skew = 0; ///< last less first
    Ticks transfer = 0;                 ///< last begin to last end: the time in which no rank waits any more
    Ticks shortest = 0, longest = 0;
};

/// Offset of a rank's clock from the first rank's, and its uncertainty.
struct ClockOffset {
    std::int64_t rank = 0;
    Ticks offset = 0;      ///< to be taken from the rank's times
    Ticks spread = 0;      ///< of what single collectives say
    std::int64_t from = 0; ///< collectives that it rests on; 0: taken as it is
    bool corrected = false;
    Ticks drift = 0;   ///< by which it changes from the first to the second half of them, beyond their spread; else 0
    double rate = 0.0; ///< of a drift along a straight line, seconds a second; else 0
    std::int64_t offset_at = 0; ///< moment of the common clock at which a drifting clock has its offset
};

/// Nanoseconds to be taken from times of a rank near a moment of the common clock: the offset, and what a clock that
/// drifts along a straight line adds to it.
Ticks offset_near(ClockOffset const& clock, std::int64_t moment);

/// Waiting of one rank in all collectives that were matched.
struct RankWaiting {
    std::int64_t rank = 0;
    std::int64_t last = 0;  ///< collectives that waited for this rank
    Ticks waited = 0;       ///< sum over collectives of last begin, or its own end if earlier, less own begin
    Ticks kept_waiting = 0; ///< time in which it alone was missing; overlapping waits count once
};
FieldTable const& field_table_of(RankWaiting const*);

struct Percentiles {
    double p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
};
/// Percentiles by linear interpolation between order statistics: at share q the value at position q (n - 1). Zeros for
/// no values.
Percentiles percentiles_of(std::vector<Ticks> values);

/// Collectives of one name, size and group size together.
struct CollectiveSummary {
    std::string name; ///< "all_reduce"
    std::optional<network::Collective> collective;
    std::int32_t ranks = 0;
    std::int64_t bytes = 0;                   ///< of one run; 0: not stated
    std::int64_t count = 0;                   ///< of runs, one for all ranks
    Ticks seconds_of_ranks = 0;               ///< sum of durations over runs and ranks
    Ticks transfer = 0;                       ///< sum over runs, waiting apart
    std::optional<double> bus_bandwidth;      ///< bytes per second, from the durations as they are (median)
    std::optional<double> transfer_bandwidth; ///< from pure transfer (median)
};

/// Collectives matched over all ranks: clocks, waits and skews.
struct CollectiveAnswer {
    std::vector<ClockOffset> clocks;
    std::vector<MatchedCollective> matched;
    std::vector<CollectiveSummary> summaries;
    std::vector<RankWaiting> waiting;
    Percentiles start_skew_ns, end_skew_ns;
    std::int64_t unmatched = 0;     ///< runs without a partner on another rank
    std::vector<std::string> notes; ///< assumptions: groups by order, clocks aligned, ...
};

/// Matches the k-th collective of each group across ranks, aligns clocks by ends where they differ, and tells waiting
/// from transfer. Rule: ends of one collective coincide (broadcasts and reduces excepted); the straggler is the rank
/// whose begin is last; the wait of a rank is the last begin less its own.
CollectiveAnswer match_collectives(std::vector<RankRuns> const& ranks);

} // namespace headroom::trace
