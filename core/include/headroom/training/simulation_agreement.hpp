#pragma once

#include "headroom/training/plan.hpp"
#include "headroom/training/prediction.hpp"
#include "headroom/training/simulated_step.hpp"

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::training {

// ---- random plans -------------------------------------------------------------------------------------------------

/// What random plans are drawn from; no list is empty.
struct PlanMenu {
    std::vector<Model> models;
    std::vector<Cluster> clusters;
    std::vector<Framework> frameworks; ///< one that stands there twice is drawn twice as often
};

/// The plan of one index; it follows from seed and index alone. Models take turns; cluster, stack and workers are drawn
/// evenly. Then every field comes evenly from its list and what is not legal (`illegal_because`) is drawn again, so all
/// legal plans of the grid are equally likely. None has to fit in memory.
///
///     workers          8 to 1,024
///     batch            16 to 4,096 sequences a step, at most 64 micro-batches a replica
///     length           2,048 to 16,384 tokens, of an encoder 512
///     micro-batch      1 to 8 sequences, of an encoder 8 to 128
///     tp, pp, cp       up to 8, 16, 4; ep up to 32; dp is the rest
///     shard group      of plans with ZeRO 1 to 3 a quarter, 1 to 64 ranks
///     ZeRO, recomputation, sequence parallelism, exchange of keys: any
///     schedule         of plans with a pipeline a quarter others than 1F1B, evenly; the rest 1F1B and interleaved with
///                      2, 4 or 8 chunks, half each
///     one in twenty    each: FP8, no overlap, overlap by kind of traffic, state or activations with the host, recomputation of some blocks,
///                      training of adapters or of the last blocks, and local updates, servers or compression
Question random_plan(PlanMenu const& menu, std::uint64_t seed, std::uint64_t index);

// ---- price and simulation ---------------------------------------------------------------------------------------------

/// Relative difference up to which price and simulation agree in counts.
inline constexpr double agreement_bar = 0.01;

/// Kinds of a plan, by which agreement is counted: its schedule, sharding, and each feature that it uses.
std::vector<std::string> kinds_of(Question const& question);

/// A plan priced and simulated.
struct AgreementRow {
    std::uint64_t index = 0;
    std::string model, cluster, framework, strategy; ///< by name
    Workload workload;
    std::vector<std::string> kinds;
    Seconds priced, simulated;
    double difference = 0.0; ///< simulated over priced, less 1; 0 where it was not simulated
    double unshared = 0.0;   ///< the difference where every transfer has the NIC to itself, in both
    std::string refused;     ///< why it was not simulated; else empty
};
AgreementRow agreement_of(Question const& question, CalibrationSet const& calibration, std::uint64_t index = 0);

/// Rows of the plans 0 .. count - 1 of a seed. When stopped, those before the first that was not reached.
std::vector<AgreementRow> agreement_rows(PlanMenu const& menu, CalibrationSet const& calibration, std::uint64_t seed,
                                         int count, Executor const& run = {}, std::stop_token const& stop = {});

/// Absolute differences of some plans that were simulated.
struct DifferenceSpread {
    int plans = 0;
    double median = 0.0, p99 = 0.0, worst = 0.0;
    double within = 0.0; ///< fraction of them that is at most `agreement_bar`
};
/// Plans of one kind.
struct AgreementOfKind {
    std::string name;
    DifferenceSpread difference, unshared;
};
/// Agreement of many plans.
struct AgreementTable {
    int refused = 0; ///< not simulated; they count nowhere else
    AgreementOfKind all;
    std::vector<AgreementOfKind> kinds; ///< most plans first
};
AgreementTable agreement_table(std::span<AgreementRow const> rows);

} // namespace headroom::training
