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

/// Times of one kind of layer and one micro-batch on one rank, by what they are spent on.
struct LayerCost {
    Seconds gemm, attention, memory; ///< kernels, recomputation included; scans count as memory
    Seconds recompute;               ///< the part of the three above that is recomputation
    Seconds backward;                ///< the part of the first three that is backward work
    Seconds weight_gradient;         ///< the part of `backward` that makes gradients of weights
    Seconds shown_forward;           ///< the part of what collectives expose that stands in the forward pass
    Seconds host;                    ///< what issuing the kernels takes (a floor)
    Seconds host_forward;            ///< the part of it for the forward pass
    Seconds late_forward, late;     ///< waits of routed blocks for their host, which cannot run ahead: forward, and all
    Seconds tensor, tensor_exposed; ///< tensor-parallel collectives: all, and not hidden
    Seconds context, context_exposed;  ///< context-parallel exchange
    Seconds experts, experts_exposed;  ///< tokens to experts and back
    Bytes tensor_bytes, context_bytes; ///< total bytes of those collectives (see TotalBytes)
    Bytes experts_bytes;               ///< what a rank holds for all expert ranks
    double tensor_count = 0.0, context_count = 0.0, experts_count = 0.0;
    /// Kernels and exposed communication.
    [[nodiscard]] Seconds chip() const;
    [[nodiscard]] PassCost forward_pass() const;
    [[nodiscard]] PassCost backward_pass() const;
    /// Both passes, neither faster than the host issues it, with the waits of routed blocks: a host that waits for the chip
    /// between passes.
    [[nodiscard]] Seconds total() const;
    /// The forward pass, with what the host adds to it.
    [[nodiscard]] Seconds forward() const;
    /// Adds `times` of another kind of layer.
    void add(LayerCost const& other, double times);
};

/// Costs of every kind of layer for one shape: filled once per shape and reused by the planner.
struct LayerCosts {
    LayerCost embedding;
    LayerCost block;               ///< the mean of the model's blocks
    LayerCost frozen, trained;     ///< the mean of the first blocks, if they have no backward pass, and of the others
    std::size_t frozen_blocks = 0; ///< how many those are
    LayerCost head;                ///< the output projection, and blocks that predict later tokens with theirs
    double paced = 1.0;            ///< factor that `pace` has put on computation
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

/// Adds the network to the terms of an explanation: latency and sustained rate of both levels.
void explain_fabric(TermBook& book, Cluster const& cluster, Calibration const& constants);

/// The cluster as `workers` ranks see it: scale-out rate over 1 + congestion lg(domains), for they share the switches
/// above their own.
/// Source: [StasMlEngineering]
Cluster congested(Cluster cluster, double congestion, int workers);

/// Costs of one block of the model, as the shape splits it.
LayerCost block_cost(BlockProgram const& block, LayerShape const& shape, Cluster const& cluster,
                     Framework const& framework, Calibration const& constants);

/// Adds a program up: each operation's time by `kernel_time` or `fastest`, sorted by what it is spent
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

/// A step's time, with the stage whose time it is.
struct PricedStep {
    StepTime time;
    int stage = 0; ///< that works longest
    [[nodiscard]] Seconds total() const { return time.total(); }
};

/// One row of a step's communication: what is sent, why, and how much of it shows.
struct CommunicationRow {
    std::string dimension, collective, why, algorithm;
    Bytes bytes; ///< total vector size of all operations of a step on one rank
    int operations = 0;
    Seconds seconds, exposed;
    network::Group group;
};

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
PricedStep price_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                      bool shared_links = true);

/// Screen of one step: a closed form for ordering plans, a hundred times faster than the price and within 5 % of it on nine
/// plans in ten.
Seconds screen_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs);

/// Adds what no task has: the rank with the most work, the slowest of many equal ranks, and a fixed time a step.
void add_disturbance(StepTime& time, StepSetting const& setting, Strategy const& strategy);

/// Adds the formulas of a priced step to the terms of an explanation, from step_seconds down to facts. `factor`: of measured
/// steps like it, on the whole.
void explain_step(TermBook& book, StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                  double factor = 1.0);

/// What each parallel dimension sends.
std::vector<CommunicationRow> communication_rows(StepSetting const& setting, Strategy const& strategy,
                                                 LayerCosts const& costs, PricedStep const& step);

} // namespace headroom::training
