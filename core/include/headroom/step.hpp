#pragma once

#include "headroom/calibration.hpp"
#include "headroom/framework.hpp"
#include "headroom/kernel.hpp"
#include "headroom/machine.hpp"
#include "headroom/model.hpp"
#include "headroom/operation.hpp"
#include "headroom/placement.hpp"
#include "headroom/strategy.hpp"
#include "headroom/term.hpp"

#include <string>
#include <vector>

namespace headroom {

/// Times of one kind of layer and one micro-batch on one rank, by what they are spent on.
struct LayerCost {
    Seconds gemm, attention, memory;   ///< kernels, recomputation included
    Seconds recompute;                 ///< the part of the three above that is recomputation
    Seconds backward;                  ///< the part of the first three that is backward work
    Seconds host;                      ///< what issuing the kernels takes (a floor)
    Seconds kernels;                   ///< launch gaps between kernels
    Seconds tensor, tensor_exposed;    ///< tensor-parallel collectives: all, and not hidden
    Seconds context, context_exposed;  ///< context-parallel exchange
    Bytes tensor_bytes, context_bytes; ///< total bytes of those collectives (see TotalBytes)
    int tensor_count = 0, context_count = 0;
    /// Kernels, gaps and exposed communication, never less than the host needs.
    [[nodiscard]] Seconds total() const;
    /// What the host adds: max(chip, host) - chip, with a smooth maximum.
    [[nodiscard]] Seconds host_excess() const;
};

/// Costs of every kind of layer for one shape: filled once per shape and reused by the planner.
struct LayerCosts {
    LayerCost embedding, block, head;
};

/// The network of a cluster with calibrated efficiencies applied: rates times the fraction of its kind of link.
Fabric calibrated_fabric(Cluster const& cluster, Calibration const& constants);

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
};

/// Where a step's time goes; the parts sum to `total()`.
struct StepTime {
    Seconds compute;                ///< kernels of the slowest stage over all micro-batches
    Seconds host;                   ///< waiting for kernels to be issued
    Seconds tensor_communication;   ///< exposed
    Seconds context_communication;  ///< exposed
    Seconds pipeline_communication; ///< exposed
    Seconds data_communication;     ///< exposed
    Seconds pipeline_bubble;
    Seconds optimizer; ///< update and gradient accumulation
    Seconds overhead;  ///< fixed time a step, and drag of many nodes
    [[nodiscard]] Seconds exposed_communication() const {
        return tensor_communication + context_communication + pipeline_communication + data_communication;
    }
    [[nodiscard]] Seconds total() const {
        return compute + host + tensor_communication + context_communication + pipeline_communication +
               data_communication + pipeline_bubble + optimizer + overhead; // in the order of the closed form
    }
};

/// One row of a step's communication: what is sent, why, and how much of it shows.
struct CommunicationRow {
    std::string dimension, collective, why, algorithm;
    Bytes bytes; ///< total vector size of all operations of a step on one rank
    int operations = 0;
    Seconds seconds, exposed;
    Group group;
};

/// The closed form of one step. `costs` must come from the same setting and shape.
///
///     busy = m (L/p block + ends) + bubble (all stages - slowest) / v + transfers + exposed data + optimizer
///     step = busy (1 + straggler lg(nodes)) + fixed
///
/// Holds for:  1F1B and interleaved 1F1B with equal stages; see docs/guide/step-model.md.
/// Assumes:    every stage runs as long as the slowest; groups do not contend for links.
/// Source:     [Narayanan2021], [Li2020], [Zhao2023]
StepTime step_time(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs);

/// The same numbers with their formulas: the very code of `step_time`, run on numbers that remember.
std::vector<Term> explain_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs);

/// What each parallel dimension sends.
std::vector<CommunicationRow> communication_rows(StepSetting const& setting, Strategy const& strategy,
                                                 LayerCosts const& costs);

} // namespace headroom
