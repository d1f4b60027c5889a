#pragma once

// Record of a run, and its consequences for other numbers of workers.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace headroom::probe {

/// Work and span of a run of fork-join code.
struct Record {
    double work_seconds = 0.0;          ///< W: the sum of all strands
    double span_seconds = 0.0;          ///< D: the longest chain of strands that wait for each other
    double burdened_span_seconds = 0.0; ///< the longest chain where every edge takes `burden_seconds`
    double elapsed_seconds = 0.0;       ///< of the run itself, with everything that recording adds
    std::uint64_t spawns = 0;
    std::uint64_t syncs = 0;     ///< that had children to wait for
    double burden_seconds = 0.0; ///< of an edge
    double clock_seconds = 0.0;  ///< taken off every strand: what reading the clock costs
    int workers = 1;             ///< that it ran on
    int repeats = 1;             ///< runs of which these are the least times
    /// The share of the elapsed time in which the thread really ran, in the least disturbed repeat; empty on several
    /// workers and where the system does not say. Below 1 strands on the steady clock include what others did.
    std::optional<double> running_share = {};
    bool structure_varies = false; ///< the repeats did not all spawn and sync equally often
    bool operator==(Record const&) const = default;
};

/// Pieces of code without a spawn or a sync: one at the beginning, two more after each spawn, one after each sync.
inline std::uint64_t strands(Record const& record) { return 1 + 2 * record.spawns + record.syncs; }

/// Work over strands: what a piece of work is worth between two decisions of the scheduler.
inline double average_strand_seconds(Record const& record) {
    return record.work_seconds / static_cast<double>(strands(record));
}

/// The workers beyond which the program cannot use more.
///
///     W / D
///
/// Empty where nothing was measured to last.
/// Holds for:  any graph of tasks.
/// Source:     [Blumofe1999]
inline std::optional<double> parallelism(Record const& record) {
    if (!(record.span_seconds > 0.0)) { return std::nullopt; }
    return record.work_seconds / record.span_seconds;
}

/// Parallelism with the burdened span: an estimate for edges that each cost a handover. Source: [He2010]
inline std::optional<double> burdened_parallelism(Record const& record) {
    if (!(record.burdened_span_seconds > 0.0)) { return std::nullopt; }
    return record.work_seconds / record.burdened_span_seconds;
}

/// Expected speedup of K workers over one.
struct SpeedupRange {
    double at_most = 1.0;  ///< min(K, W/D)
    double at_least = 1.0; ///< W / (W/K + (1 - 1/K) D)
    double burdened = 1.0; ///< W / (W/K + (1 - 1/K) D_burdened)
};

/// Speedup over one worker between what no schedule exceeds and what every greedy one reaches.
///
///     min(K, W/D)  >=  S(K)  >=  W / (W/K + (1 - 1/K) D)
///
/// `burdened` puts the burdened span into the lower bound: an estimate of the speedup when work moves between
/// workers at every spawn and sync, no bound. Brent's bound W/K + D is the same without the factor 1 - 1/K.
/// Holds for:  K >= 1; empty where no work was measured.
/// Assumes:    strands take as long on K workers as they took when recorded: memory and caches are not shared out,
///             and workers are never idle while a task is ready.
/// Source:     [Graham1969], [Brent1974], [He2010]
inline std::optional<SpeedupRange> predicted_speedup(Record const& record, int workers) {
    double const w = record.work_seconds;
    double const k = std::max(1, workers);
    if (!(w > 0.0) || !(record.span_seconds > 0.0)) { return std::nullopt; }
    auto const greedy = [&](double span) { return w / (w / k + (1.0 - 1.0 / k) * span); };
    return SpeedupRange{.at_most = std::min(k, w / record.span_seconds),
                        .at_least = greedy(record.span_seconds),
                        .burdened = greedy(record.burdened_span_seconds)};
}

/// The least of each time over runs of the same program. Interruptions and other users of the machine only ever add
/// to a strand, so the least is nearest to the program itself; it may come from a different run for each time.
/// Counts are those of the run of least work.
inline Record least(std::span<Record const> runs) {
    if (runs.empty()) { return {}; }
    Record best = *std::min_element(runs.begin(), runs.end(), [](Record const& left, Record const& right) {
        return left.work_seconds < right.work_seconds;
    });
    best.repeats = 0;
    for (Record const& run : runs) {
        best.span_seconds = std::min(best.span_seconds, run.span_seconds);
        best.burdened_span_seconds = std::min(best.burdened_span_seconds, run.burdened_span_seconds);
        best.elapsed_seconds = std::min(best.elapsed_seconds, run.elapsed_seconds);
        best.structure_varies =
            best.structure_varies || run.structure_varies || run.spawns != best.spawns || run.syncs != best.syncs;
        best.running_share = std::max(best.running_share, run.running_share);
        best.repeats += run.repeats;
    }
    return best;
}

} // namespace headroom::probe
