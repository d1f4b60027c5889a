#pragma once

#include "headroom/fields.hpp"
#include "headroom/laws/roofline.hpp"
#include "headroom/trace/rank_digest.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::trace {

/// A serial fraction and the worker count that it belongs to: without the latter it is no property of anything.
///
///     s = T_exposed / (T_comp + T_exposed)
///
/// Sums over all ranks and whole files. Source: [Amdahl1967]
struct MeasuredSerial {
    double value = 0.0;
    std::optional<std::int64_t> at_workers = {}; ///< empty: how many there were is not known
};

/// The speedup to expect at another size, from the measured split alone.
///
///     S(K over K0) = T(K0) / (max(T_comp K0 / K, T_overlapped) + T_exposed + T_other)
///
/// T_overlapped is communication hidden by computation; T_other is what a device spent on copies alone and on nothing.
/// Sums over all ranks and whole files.
/// Holds for:  the same problem on K workers.
/// Assumes:    compute divides perfectly; nothing else changes with K: hidden communication lasts as long.
/// Source:     [Amdahl1967]
struct ExpectedSpeedup {
    std::int64_t workers = 1;
    double speedup_over_now = 1.0;
    double efficiency = 1.0; ///< of the workers added: speedup K0 / K
};
FieldTable const& field_table_of(ExpectedSpeedup const*);

/// A rank that others wait for: one that comes last in at least twice its share of the collectives (with few ranks, in
/// half of what its share leaves), or whose compute takes 5 % longer than the median rank's (in a step where files hold
/// different numbers of them; not in tables of totals, whose share of a run nobody states). By cost, largest first.
enum class StragglerReason : std::uint8_t { arrives_last, computes_longer };
struct Straggler {
    std::int64_t rank = 0;
    StragglerReason reason = StragglerReason::arrives_last;
    double share = 0.0;                     ///< of collectives in which it was last, or of excess compute
    Ticks cost = 0;                         ///< time that the others waited for it, or that it computed more
    std::int64_t last = 0, collectives = 0; ///< of `arrives_last`: in so many of all it came last
};
/// "arrives last in 32 of 84 collectives", "computes 12 % longer than the median"
std::string words_of(Straggler const& straggler);

/// Steps of one phase of an inference engine, on the first rank that has steps.
struct PhaseSummary {
    PhaseKind kind = PhaseKind::none;
    std::int64_t steps = 0;
    double step_ns = 0.0;                         ///< median; of decode the time of a token
    double requests = 0.0;                        ///< mean of a step; 0: not stated
    std::optional<double> tokens_per_second = {}; ///< of all requests; empty: tokens are not stated
};
FieldTable const& field_table_of(PhaseSummary const*);

/// Answer to a folder of traces: the ranks, and the speedups and ceilings that follow from them.
///
/// The ceilings are the limits of `ExpectedSpeedup` for workers without end, over K0 and over one worker:
///
///     C = T / (T - T_comp + T_overlapped),    C1 = (T - T_comp + K0 T_comp) / (T - T_comp + T_overlapped)
///
/// Empty where nothing bounds, and where the traces do not state what is needed. Source: [Amdahl1967]
struct TraceAnswer {
    std::vector<RankDigest> ranks; ///< by rank
    /// K0: the stated world size, else the ranks that are there or that a group has. Empty for one rank that
    /// communicates with nobody knows how many.
    std::optional<std::int64_t> workers;
    std::optional<MeasuredSerial> serial;
    std::optional<double> gamma;            ///< T_comm / T_comp, all of communication
    std::optional<double> overlap_fraction; ///< of communication
    std::optional<double> ceiling;          ///< of the speedup over K0
    std::optional<double> ceiling_over_one_worker;
    std::int64_t launches = 0, without_work = 0; ///< of kernels on all ranks, and those without device work
    bool work_missing = false;                   ///< on some rank: sums, and what follows from them, are not given
    std::vector<ExpectedSpeedup> expected;
    std::optional<Percentiles> step_ns; ///< over steps: of each the slowest rank
    std::vector<PhaseSummary> phases;   ///< where names of steps state them
    CollectiveAnswer collectives;
    std::vector<Straggler> stragglers;
    std::optional<PathAnswer> path;
    std::vector<TraceIssue> issues; ///< of all ranks, and those of their meeting: a rank missing, twice, clocks
    std::uint64_t bytes_read = 0, text_bytes = 0, events = 0;
    std::vector<std::string> notes;
};

/// Puts digests together: sorted by rank, the same whatever their order. Of several traces of one rank all are listed
/// and the first takes part in collectives and in the critical path. What-ifs are asked by `run`, where one is given;
/// the answer does not depend on it. `workers`: how many there were, where the user states it; `machine`: whose roofline
/// advice on kernels uses.
TraceAnswer trace_answer(std::vector<RankDigest> ranks, Executor const& run = {},
                         std::optional<std::int64_t> workers = {}, std::optional<laws::Processor> const& machine = {});

// ---- two traces -----------------------------------------------------------------------------------------------------

/// Change of a category of time or of a kernel from one trace to another: the mean over ranks of a step where both have
/// steps, else of the whole file. For categories, counts are of steps (or of files); for kernels, of their runs on all
/// ranks.
struct TraceChange {
    std::string name;
    std::int64_t count_before = 0, count_after = 0;
    double before_ns = 0.0, after_ns = 0.0;
};
struct TraceComparison {
    bool per_step = false;
    std::int64_t matched_steps = 0; ///< numbers of steps that both have; those alone are compared; 0: all of either
    std::int64_t ranks_before = 0, ranks_after = 0;
    std::optional<double> speedup; ///< of the step (or file); empty where the numbers of ranks differ
    std::vector<TraceChange>
        parts; ///< step, compute, exposed communication, memory, idle; the last only where it is known
    std::vector<TraceChange> idle;        ///< idle time by reason: launch-bound, waiting, other
    std::vector<TraceChange> collectives; ///< by name, ranks and size: time of a rank; largest change first
    std::vector<TraceChange> kernels;     ///< largest change first, then by name
};
TraceComparison compare(TraceAnswer const& before, TraceAnswer const& after);
FieldTable const& field_table_of(TraceComparison const*);

} // namespace headroom::trace
