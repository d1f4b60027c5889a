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
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headroom::training {

/// What a pass takes the chip, and what issuing it takes the host.
struct PassCost {
    Seconds chip, host;
    /// (chip^3 + host^3)^(1/3), rounder than the smooth maximum of a kernel: a pass begins with nothing issued, and long
    /// kernels stand beside short ones, so that each waits for the other in turn where both take about as long.
    /// Holds for: the chip alone without a host; at equal times 26 % beyond either. The exponent is a guess between 2
    /// and 8, made while residuals were in view.
    [[nodiscard]] Seconds total() const;
};

/// What both passes take.
struct PassTimes {
    Seconds forward, backward;
    [[nodiscard]] Seconds total() const { return forward + backward; }
};

/// Times of one kind of layer and one micro-batch on one rank, by what they are spent on.
struct LayerCost {
    Seconds gemm, attention, memory; ///< kernels, recomputation included; scans count as memory
    Seconds recompute;               ///< the part of the three above that is recomputation
    Seconds recomputed_core;         ///< the part of attention that selective recomputation adds
    Seconds backward;                ///< the part of the first three that is backward work
    Seconds weight_gradient;         ///< the part of `backward` that makes gradients of weights
    Seconds shown_forward;           ///< the part of what collectives expose that stands in the forward pass
    Seconds host;                    ///< what issuing the kernels takes (a floor)
    Seconds host_forward;            ///< the part of it for the forward pass
    Seconds
        apart_forward; ///< what kinds of block add that differ, where the host reads from each: beyond the mean of both
    Seconds apart_backward;            ///< the same of the backward pass
    Seconds tensor, tensor_exposed;    ///< tensor-parallel collectives: all, and not hidden
    Seconds context, context_exposed;  ///< context-parallel exchange
    Seconds experts, experts_exposed;  ///< tokens to experts and back
    Bytes tensor_bytes, context_bytes; ///< total bytes of those collectives (see TotalBytes)
    Bytes experts_bytes;               ///< what a rank holds for all expert ranks
    double tensor_count = 0.0, context_count = 0.0, experts_count = 0.0;
    /// Kernels and exposed communication.
    [[nodiscard]] Seconds chip() const;
    [[nodiscard]] PassCost forward_pass() const;
    [[nodiscard]] PassCost backward_pass() const;
    /// Both passes, neither faster than the host issues it: a host that waits for the chip between passes.
    [[nodiscard]] Seconds total() const;
    /// The forward pass, with what the host adds to it.
    [[nodiscard]] Seconds forward() const;
    /// What the host adds to both passes: the sum of max(chip, host) - chip.
    [[nodiscard]] Seconds host_excess() const;
    /// Adds `times` of another kind of layer.
    void add(LayerCost const& other, double times);
};

/// What the first blocks of a model take. A host runs ahead of the blocks that are longer than issuing them takes, so it
/// and the chip are compared over all the blocks of a pass of a stage.
struct BlocksUntil {
    Seconds kernels, kernels_forward; ///< all; the part of the forward pass
    Seconds shown, shown_forward;     ///< communication that stands in the way
    Seconds host, host_forward;
    std::size_t alike = 0; ///< where the run of blocks of one kind begins that the last of these belongs to
};

/// Where in a block's pass kernels run and where exposed collectives do: gradients and weights that are under way beside
/// it slow kernels alone. A pass begins here as its traffic does, when the last kernel of the block before has ended.
struct PassOutline {
    static constexpr std::size_t parts = 16;
    std::array<double, parts + 1> kernels{}; ///< seconds up to the end of each part of the longest pass
    std::array<double, parts + 1> idle{};    ///< of the rest: what follows the pass where others are longer
    double part = 0.0;                       ///< seconds of one, kernels at their own pace
    double pace = 1.0;                       ///< factor on kernels
    double trailing = 0.0;                   ///< collectives behind the last kernel, and then:
    double waits = 0.0;                      ///< for a host that is late now and then
    /// From the last kernel of the block before to the first pass that follows it.
    [[nodiscard]] double before() const { return trailing + waits; }
    [[nodiscard]] bool known() const { return kernels.back() > 0.0; }
    [[nodiscard]] double all_kernels() const { return pace * kernels.back(); }
    /// Seconds of the mean pass.
    [[nodiscard]] double length() const {
        return static_cast<double>(parts) * part + (pace - 1.0) * kernels.back() - idle.back();
    }
    struct Beside {
        double lost = 0.0; ///< by kernels
        double idle = 0.0; ///< what the traffic outlasts the pass by
    };
    /// What the pass loses to `traffic` seconds beside it from its begin, while kernels run at 1 - l of their rate.
    ///
    ///     lost = l / (1 - l) K(p)   where   p + l / (1 - l) K(p) = traffic,   K(p) kernels in the first p seconds
    ///
    /// Source: [Li2020]
    [[nodiscard]] Beside beside(double traffic, double loss) const;
};

/// Costs of every kind of layer for one shape: filled once per shape and reused by the planner.
struct LayerCosts {
    LayerCost embedding;
    LayerCost block;               ///< the mean of the model's blocks
    LayerCost frozen, trained;     ///< the mean of the first blocks, if they have no backward pass, and of the others
    std::size_t frozen_blocks = 0; ///< how many those are
    LayerCost head;                ///< the output projection, and blocks that predict later tokens with theirs
    std::vector<BlocksUntil> until = {};     ///< the first i blocks, i from 0 to all; empty where all are alike
    PassOutline forward = {}, backward = {}; ///< of a mean block
    /// Times of the passes of the blocks [first, end), where they differ.
    [[nodiscard]] PassTimes passes_between(std::size_t first, std::size_t end) const;
    /// Time of the blocks [first, end) over that of a mean one.
    [[nodiscard]] double blocks_between(std::size_t first, std::size_t end) const;
    /// Computation and its host times `factor`; communication stays.
    void pace(double factor);
};

/// Sequences of uneven length: what a replica has to do varies with those it draws.
struct UnevenSequences {
    double spread = 0.0;      ///< standard deviation of one sequence's work over its mean
    double per_replica = 1.0; ///< sequences that one sums
    bool operator==(UnevenSequences const&) const = default;
};

/// What the laws of speedup leave out; each but the drag is off at its default.
struct Disturbance {
    double imbalance = 1.0;                     ///< work of the fullest rank over the mean
    std::optional<UnevenSequences> uneven = {}; ///< goes before `imbalance`, which then follows from the replicas
    /// Standard deviation of a rank's step time over its mean; zero: no rank is slower; empty: the default drag.
    std::optional<double> spread = {};
    double congestion = 0.0; ///< scale-out rate lost per doubling of domains: rate / (1 + congestion lg k)
    bool operator==(Disturbance const&) const = default;
};

/// Work of the fullest of `replicas` over the mean: as given, or as uneven sequences make it.
double largest_over_mean(Disturbance const& disturbance, int replicas);

/// The constant that says which fraction of the rate of this cluster's scale-up link collectives reach.
Constant scale_up_constant(Cluster const& cluster);

/// The network of a cluster with calibrated efficiencies applied: rates times the fraction of its kind of link.
network::Fabric calibrated_fabric(Cluster const& cluster, Calibration const& constants);

/// The cluster as `workers` ranks see it: scale-out rate over 1 + congestion lg(domains), for they share the switches
/// above their own.
/// Source: [StasMlEngineering]
Cluster congested(Cluster cluster, double congestion, int workers);

/// Adds a program up in closed form: each operation's time by `kernel_time` or `fastest`, sorted by what it is spent
/// on. Of tensor and context collectives the stack's share shows, and at least what outlasts the work beside them.
LayerCosts layer_costs(StepProgram const& program, LayerShape const& shape, Cluster const& cluster,
                       Framework const& framework, Calibration const& constants);

/// Everything that one evaluation reads. References must outlive the call.
struct StepSetting {
    Model const& model;
    Cluster const& cluster;
    Framework const& framework;
    Calibration const& constants;
    Workload workload;
    Disturbance disturbance = {};
    double expected_slowest = 0.0;         ///< of this many ranks' step times, in standard deviations above the mean
    std::map<int, double> fullest_of = {}; ///< `largest_over_mean` by replicas, where it depends on them
    // once: every evaluation reads them
    ParameterCount count = count_parameters(model);
    std::vector<BlockRun> blocks = block_runs(model);
};

/// Where a step's time goes; the parts sum to `total()`.
struct StepTime {
    Seconds compute;                ///< kernels of the slowest stage over all micro-batches
    Seconds host;                   ///< waiting for kernels to be issued
    Seconds tensor_communication;   ///< exposed
    Seconds context_communication;  ///< exposed
    Seconds expert_communication;   ///< exposed
    Seconds pipeline_communication; ///< exposed
    Seconds data_communication;     ///< exposed
    Seconds pipeline_bubble;
    Seconds optimizer;  ///< update and gradient accumulation
    Seconds offload;    ///< transfers to the host and back, and its update, beyond what hides
    Seconds imbalance;  ///< what the rank with the most work adds
    Seconds stragglers; ///< what the slowest of many equal ranks adds
    Seconds overhead;   ///< fixed time a step
    [[nodiscard]] Seconds exposed_communication() const {
        return tensor_communication + context_communication + expert_communication + pipeline_communication +
               data_communication;
    }
    [[nodiscard]] Seconds total() const {
        return compute + host + tensor_communication + context_communication + expert_communication +
               pipeline_communication + data_communication + pipeline_bubble + optimizer + offload + imbalance +
               stragglers + overhead; // in the order of the closed form
    }
};

/// One row of a step's communication: what is sent, why, and how much of it shows.
struct CommunicationRow {
    std::string dimension, collective, why, algorithm;
    Bytes bytes; ///< total vector size of all operations of a step on one rank
    int operations = 0;
    Seconds seconds, exposed;
    network::Group group;
};

/// The closed form of one step. `costs` must come from the same setting and shape.
///
///     busy = m (n block + ends) + bubble + transfers + exposed data + optimizer + offload
///     bubble    = (all stages - slowest) / v                                    1F1B, interleaved, GPipe
///     transfers = filling + [steady - spare (slowest - mean of all stages)]+
///     step = (busy + imbalance)(1 + stragglers) + fixed
///
/// Without a flush (PipeDream) bubble is none and transfers are what the slowest window of neighbours waits for beyond the slowest
/// stage, each stage with its own gradients and updates; of a model whose last blocks alone are trained those before run forward
/// only.
///
/// n blocks and ends are those of the slowest stage (`stage_layers`). The rows of other schedules are run with stages as they
/// are, or wait as `ScheduleRow::bubble` has it for the mean of the other stages where they are long or have no flush;
/// what transfers add to 1F1B, GPipe and interleaving, filling and draining and in between, is `ScheduleRow::hops`;
/// spare is m - 1 micro-batches, interleaved p (v - 1) / v. Stragglers is spread z_K where a
/// spread of step times is given and for stacks with data pipelines of their own; imbalance is (largest / mean - 1) of
/// computation.
/// Holds for:  every schedule of the table; see docs/guide/step-model.md.
/// Assumes:    every stage runs as long as the slowest; blocks of all kinds are spread evenly over the stages; groups
///             do not contend for links, but a rank's gradients and weights meet what else leaves by its adapter and shows.
/// Source:     [Narayanan2021], [Qi2024], [Li2020], [Zhao2023]
StepTime step_time(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs);

/// Price of one step: the recurrence over the passes and streams of every stage, each a class of equal ranks.
///
///     begin = max(end of the task before on its stream, ends of the tasks waited for),   end = begin + cost
///     step  = (largest end + imbalance)(1 + stragglers) + fixed
///
/// The parts are those of the stage that works longest.
/// Gradients and weights share a NIC with one other transfer at a time; `shared_links` false: with none.
/// Holds for:  every legal strategy; equal to `simulate_step` up to rounding where at most two transfers share a NIC.
/// Neglects:   a third transfer by the same NIC.
/// Source:     [Narayanan2021], [Li2020], [Zhao2023]
StepTime price_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                    bool shared_links = true);

/// Adds what no task has: the rank with the most work, the slowest of many equal ranks, and a fixed time a step.
void add_disturbance(StepTime& time, StepSetting const& setting, Strategy const& strategy);

/// The same numbers with their formulas: the very code of `step_time`, run on numbers that remember.
std::vector<Term> explain_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs);

/// What each parallel dimension sends.
std::vector<CommunicationRow> communication_rows(StepSetting const& setting, Strategy const& strategy,
                                                 LayerCosts const& costs);

} // namespace headroom::training
