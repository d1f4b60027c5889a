#pragma once

#include "headroom/rank_digest.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A serial fraction and the worker count that it belongs to: without the latter it is no property of anything.
struct MeasuredSerial {
    double value = 0.0;
    std::int64_t at_workers = 1;
};

/// The speedup to expect at another size, from the measured split alone.
///
///     S(K over K0) = T(K0) / (T_comp K0 / K + T_exposed + T_other)
///
/// Source: [Amdahl1967]
struct ExpectedSpeedup {
    std::int64_t workers = 1;
    double speedup_over_now = 1.0, efficiency = 1.0;
};

/// A rank that others wait for.
struct Straggler {
    std::int64_t rank = 0;
    std::string why;    ///< "arrives last in 32 of 84 collectives", "computes 12 % longer than the median"
    double share = 0.0; ///< of collectives in which it was last, or of excess compute
    Ticks cost = 0;     ///< what it kept the others waiting
};

/// What a folder of traces says.
struct TraceAnswer {
    std::vector<RankDigest> ranks; ///< by rank
    std::int64_t workers = 1;      ///< K0: the stated world size, else the ranks that are there
    std::optional<MeasuredSerial> serial;
    std::optional<double> gamma;            ///< T_comm / T_comp, all of communication
    std::optional<double> overlap_fraction; ///< of communication
    std::optional<double> ceiling;          ///< of the speedup over K0
    std::optional<double> ceiling_over_one_worker;
    std::vector<ExpectedSpeedup> expected;
    std::optional<Percentiles> step_ns; ///< over steps: of each the slowest rank
    CollectiveAnswer collectives;
    std::vector<Straggler> stragglers;
    std::optional<PathAnswer> path;
    std::vector<TraceIssue> issues; ///< of all ranks, and those of their meeting: a rank missing, twice, clocks
    std::uint64_t bytes_read = 0, text_bytes = 0, events = 0;
    std::vector<std::string> notes;
};

/// Puts digests together: sorted by rank, the same whatever their order.
TraceAnswer trace_answer(std::vector<RankDigest> ranks);

// ---- two traces -----------------------------------------------------------------------------------------------------

/// How a part or a kernel changed from one trace to another, a step where both have steps.
struct TraceChange {
    std::string name;
    std::int64_t count_before = 0, count_after = 0;
    double before_ns = 0.0, after_ns = 0.0;
};
struct TraceComparison {
    bool per_step = false;
    std::vector<TraceChange> parts;   ///< step, compute, exposed communication, memory, idle
    std::vector<TraceChange> kernels; ///< largest change first
};
TraceComparison compare(TraceAnswer const& before, TraceAnswer const& after);

} // namespace headroom
