#pragma once

#include "headroom/machine.hpp"
#include "headroom/network/library_collectives.hpp"
#include "headroom/term.hpp"
#include "headroom/training/calibration.hpp"
#include "headroom/training/framework.hpp"
#include "headroom/training/kernel.hpp"
#include "headroom/training/model.hpp"
#include "headroom/training/operation.hpp"
#include "headroom/training/placement.hpp"
#include "headroom/training/strategy.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::training {

/// Way in which the time of a step was computed.
enum class Tier {
    screened, ///< closed form that orders plans (`screen_step`)
    priced,   ///< recurrence over passes and streams (`price_step`)
};
constexpr std::string_view name_of(Tier tier) { return tier == Tier::priced ? "priced" : "screened"; }

/// Durations of a pass: its work on the chip, and the CPU time to launch its kernels.
struct PassCost {
    Seconds chip, host;
    /// Duration of the pass when chip and CPU overlap imperfectly, seconds:
    ///
    ///     (chip^3 + host^3)^(1/3)
    ///
    /// A pass begins with an empty launch queue, and long and short kernels alternate, so chip and CPU wait for each other
    /// where both take about as long.
    /// Holds for:  host = 0 gives the chip's time; equal times give 26 % more than either.
    /// Assumes:    the exponent, a guess between 2 and 8 that was made with the residuals in view.
    [[nodiscard]] Seconds total() const;
};

/// Collectives of one dimension inside the passes of a layer.
struct GroupCost {
    Seconds time, exposed; ///< total duration, and the exposed part of it
    Bytes bytes;
    double count = 0.0; ///< number of collectives
};

/// Durations of one layer of a kind, for one micro-batch on one rank, by kind of work.
struct LayerCost {
    Seconds gemm, attention, memory; ///< kernels, recomputation included; scans count as memory
    Seconds recompute;               ///< recomputation, included in the three above
    Seconds backward;                ///< backward work, included in the first three
    Seconds weight_gradient;         ///< weight gradients, included in `backward`
    Seconds exposed_forward;         ///< exposed time of collectives in the forward pass
    Seconds host;                    ///< CPU launch time of the kernels: a lower bound of the pass
    Seconds host_forward;            ///< launch time of the forward pass, included in `host`
    /// Launch waits of blocks with experts, where the CPU cannot run ahead of the GPU: forward pass, both passes.
    Seconds routed_wait_forward, routed_wait;
    GroupCost tensor, context; ///< tensor-parallel collectives, context-parallel exchange: total bytes
    GroupCost experts;         ///< all-to-all of tokens and back: bytes that a rank holds for all expert ranks
    /// Time on the chip: kernels and exposed communication.
    [[nodiscard]] Seconds chip() const;
    [[nodiscard]] PassCost forward_pass() const;
    [[nodiscard]] PassCost backward_pass() const;
    /// Duration of both passes, seconds: neither is shorter than its launch time, and the waits of routed blocks are
    /// added. The CPU waits for the chip between passes.
    [[nodiscard]] Seconds total() const;
    /// Durations of the forward and of the backward pass, CPU launch included, seconds.
    [[nodiscard]] Seconds forward() const { return forward_pass().total() + routed_wait_forward; }
    [[nodiscard]] Seconds back() const { return backward_pass().total() + routed_wait - routed_wait_forward; }
    /// Adds `times` of another kind of layer.
    void add(LayerCost const& other, double times);
};

/// Costs of every kind of layer for one shape: filled once per shape and reused by the planner.
struct LayerCosts {
    LayerCost embedding;
    LayerCost block;               ///< average of the model's blocks
    LayerCost frozen, trained;     ///< averages of the first blocks, if they have no backward pass, and of the others
    std::size_t frozen_blocks = 0; ///< number of blocks without a backward pass
    LayerCost head;                ///< output projection, and multi-token-prediction blocks with theirs
    double paced = 1.0;            ///< product of the factors that `pace` has applied
    /// Multiplies computation and its launch time by `factor`; communication is unchanged.
    void pace(double factor);
};

/// Sequences of unequal length: the work of a replica varies with the sequences it draws.
struct UnevenSequences {
    double spread = 0.0;      ///< standard deviation of one sequence's work over its mean
    double per_replica = 1.0; ///< sequences that a replica processes in a step
    bool operator==(UnevenSequences const&) const = default;
};

/// Effects that the speedup laws neglect; each is off by default, but for the spread of some frameworks.
struct Disturbance {
    double imbalance = 1.0;                     ///< work of the most loaded rank over the mean
    std::optional<UnevenSequences> uneven = {}; ///< replaces `imbalance` by a value that depends on the number of
                                                ///< replicas
    /// Standard deviation of a rank's step time over its mean; empty: fitted for frameworks with their own kernels
    /// (`Framework::paced`), zero for others.
    std::optional<double> spread = {};
    double congestion = 0.0; ///< scale-out rate lost per doubling of domains: rate / (1 + congestion lg k)
    bool operator==(Disturbance const&) const = default;
};

/// Work of the most loaded of `replicas` over the mean: the given imbalance, or the expected one of uneven sequences.
double largest_over_mean(Disturbance const& disturbance, int replicas);

/// Constant of the fraction that collectives reach of the rate of this cluster's scale-up link.
Constant scale_up_constant(Cluster const& cluster);

/// Network of a cluster with calibrated efficiencies applied: rate times the fraction for its class of link.
network::Fabric calibrated_fabric(Cluster const& cluster, Calibration const& constants);

/// Adds the network to the terms of an explanation: latency and sustained rate of both levels.
void explain_fabric(TermBook& book, Cluster const& cluster, Calibration const& constants);

/// Cluster as `workers` ranks see it: its scale-out rate is divided by 1 + congestion lg(domains), because ranks share
/// the upper switches. If they are fewer than the accelerators of a node, they share the whole host memory bandwidth.
/// Source:     [StasMlEngineering]
Cluster congested(Cluster cluster, double congestion, int workers);

/// Durations of one block of the model, sharded as the shape states.
LayerCost block_cost(BlockProgram const& block, LayerShape const& shape, Cluster const& cluster,
                     Framework const& framework, Calibration const& constants);

/// Sums the durations of a program's operations (`kernel_time`, or `fastest` for collectives) by kind of work. Exposed
/// time of tensor and context collectives: the framework's exposed share, and at least the time by which they outlast
/// the work that overlaps with them.
LayerCosts layer_costs(StepProgram const& program, LayerShape const& shape, Cluster const& cluster,
                       Framework const& framework, Calibration const& constants);

/// Inputs of a step apart from the strategy and its `LayerCosts`. References must outlive the call.
struct StepSetting {
    Model const& model;
    Cluster const& cluster;
    Framework const& framework;
    Calibration const& constants;
    Workload workload;
    Disturbance disturbance = {};
    double expected_slowest = 0.0;         ///< expected maximum of the step times of this many ranks, in standard
                                           ///< deviations above the mean
    std::map<int, double> fullest_of = {}; ///< `largest_over_mean` by replicas, where it depends on them
    // computed once: every evaluation reads them
    ParameterCount count = count_parameters(model);
    std::vector<BlockRun> blocks = block_runs(model);
    std::vector<BlockSum> sums = block_sums(model); ///< empty where all blocks are alike
};

/// Breakdown of a step's time; the parts sum to `total()`.
struct StepTime {
    Seconds compute = {};                ///< kernels of the slowest stage over all micro-batches
    Seconds host = {};                   ///< waits for kernels to be launched
    Seconds tensor_communication = {};   ///< exposed
    Seconds context_communication = {};  ///< exposed
    Seconds expert_communication = {};   ///< exposed
    Seconds pipeline_communication = {}; ///< exposed
    Seconds data_communication = {};     ///< exposed
    Seconds pipeline_bubble = {};
    Seconds optimizer = {};  ///< update and gradient accumulation
    Seconds offload = {};    ///< exposed copies to and from host memory, and the exposed update on the CPU
    Seconds imbalance = {};  ///< time that the most loaded rank adds
    Seconds stragglers = {}; ///< time that the slowest of many equal ranks adds
    Seconds overhead = {};   ///< fixed time a step
    [[nodiscard]] Seconds exposed_communication() const {
        return tensor_communication + context_communication + expert_communication + pipeline_communication +
               data_communication;
    }
    [[nodiscard]] Seconds total() const {
        return compute + host + tensor_communication + context_communication + expert_communication +
               pipeline_communication + data_communication + pipeline_bubble + optimizer + offload + imbalance +
               stragglers + overhead; // in the order of the documented sum
    }
};

/// Time of a step, with the stage that determines it.
struct PricedStep {
    StepTime time;
    int stage = 0; ///< stage that works longest
    [[nodiscard]] Seconds total() const { return time.total(); }
};

/// One row of a step's communication: its payload, its reason, and its exposed time.
struct CommunicationRow {
    std::string dimension, collective, why, algorithm;
    Bytes bytes = {}; ///< total vector size of all operations of a step on one rank
    std::int64_t operations = 0;
    Seconds seconds = {}, exposed = {};
    network::Group group = {};
};

/// Price of one step: the recurrence over the passes and streams of every stage, each a class of equal ranks.
///
///     begin = max(end of the previous task on its stream, ends of the tasks that it depends on),   end = begin + cost
///     step  = (largest end + imbalance)(1 + stragglers) + fixed
///
/// Imbalance and fixed time are seconds, stragglers a fraction (`disturbed`). Schedules whose steps overlap have the
/// longest period of a stage in place of the largest end. The parts are those of the stage that works longest.
/// Gradients and weights share a NIC with one other transfer at a time; `shared_links` false: with none.
/// Holds for:  every legal strategy; equal to `simulate_step` up to rounding where at most two transfers share a NIC.
/// Neglects:   a third transfer by the same NIC.
/// Source:     [Narayanan2021], [Li2020], [Zhao2023]
PricedStep price_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                      bool shared_links = true);

/// Screen of one step: a closed form for ordering plans, a hundred times faster than the price and within 5 % of it on nine
/// plans in ten.
Seconds screen_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs);

/// Adds the times that no task has: imbalance (f - 1) compute, f the load of the most loaded rank over the mean;
/// stragglers, the spread times the expected maximum of equal ranks, of the sum so far; and the fixed time of a step.
StepTime disturbed(StepTime time, StepSetting const& setting, Strategy const& strategy);

/// Adds the formulas of a priced step to the terms of an explanation, from step_seconds down to facts. `factor`: correction
/// of the whole step by measured ones (warm start).
void explain_step(TermBook& book, StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                  double factor = 1.0);

/// Communication of each parallel dimension in a step.
std::vector<CommunicationRow> communication_rows(StepSetting const& setting, Strategy const& strategy,
                                                 LayerCosts const& costs, PricedStep const& step);

} // namespace headroom::training
