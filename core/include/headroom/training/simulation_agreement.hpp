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

/// Models, clusters and frameworks that random plans are drawn from; no list is empty.
struct PlanMenu {
    std::vector<Model> models;
    std::vector<Cluster> clusters;
    std::vector<Framework> frameworks; ///< one that stands there twice is drawn twice as often
};

/// Random plan of one index; seed and index alone determine it. Models are taken round robin; cluster, framework and
/// number of workers are drawn uniformly. Every field is then drawn uniformly from its list. An illegal plan
/// (`illegal_because`) is drawn again, so all legal plans of the grid are equally likely. A plan need not fit in
/// memory.
///
///     workers          8 to 1,024
///     batch            16 to 4,096 sequences a step, at most 64 micro-batches a replica
///     length           2,048 to 16,384 tokens; 512 for encoders
///     micro-batch      1 to 8 sequences; 8 to 128 for encoders
///     tp, pp, cp       up to 8, 16, 4; ep up to 32; dp is the quotient
///     shard group      a quarter of the plans with ZeRO 1 to 3: 1 to 64 ranks
///     ZeRO, recomputation, sequence parallelism, context exchange: any
///     schedule         a quarter of the pipelined plans: uniformly one that is not 1F1B; the others: half 1F1B, half
///                      interleaved with 2, 4 or 8 chunks
///     one in twenty    each: FP8, no overlap, overlap by kind of traffic, offloaded state or activations, recomputation of some blocks,
///                      LoRA or training of the last blocks, local updates, parameter servers, compression
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
    Seconds priced = {}, simulated = {};
    double difference = 0.0;  ///< simulated over priced, less 1; 0 where it was not simulated
    double unshared = 0.0;    ///< the difference where every transfer has the NIC to itself, in both
    std::string refused = {}; ///< why it was not simulated; else empty
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
