#pragma once

#include "stage.hpp"

#include "headroom/training/step.hpp"

#include <optional>

namespace headroom::training {

/// What one set of parameters of the fullest stage sends to the ranks that hold the same ones.
struct ParameterTraffic {
    double parameters_held = 0.0;             ///< of one rank before any data-parallel sharding
    Seconds reduce, gather;                   ///< of one whole reduction and of one whole gathering
    Seconds replicate;                        ///< of one reduction between the copies of a ZeRO-3 shard group
    Bytes gradients, parameters;              ///< total bytes of those
    double sent = 1.0;                        ///< of the gradients' bytes, when they are compressed
    network::Group group = {}, replicas = {}; ///< reduced and gathered over; copies of a shard group
    [[nodiscard]] int ranks() const { return group.size * replicas.size; }
};

/// Data-parallel traffic of the fullest stage: routed experts have a group of their own.
struct DataTraffic {
    ParameterTraffic dense, experts;
    /// Of a reduction that all wait for: local updates, parameter servers. Averaged over steps; hides behind nothing.
    Seconds blocking;
    Bytes blocking_bytes; ///< total, averaged over steps
    [[nodiscard]] Seconds reduce() const { return dense.reduce + dense.replicate + experts.reduce + experts.replicate; }
    [[nodiscard]] Seconds gather() const { return dense.gather + experts.gather; }
};
/// Sustained rate of an accelerator's memory.
BytesPerSecond sustained_memory(StepSetting const& setting);

/// What a rank of the fullest stage holds: with two directions the parts of both.
StageParameters held_parameters(StepSetting const& setting, Strategy const& strategy);

DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, network::Fabric const& fabric);
/// The same with ranks that are placed already.
DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                         network::Fabric const& fabric);
DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                         network::Fabric const& fabric, StageParameters const& held);
/// The same of a stage that holds and trains these parameters.
DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                         network::Fabric const& fabric, StageParameters const& held, TrainedParts const& trained);
/// The same of a stage that holds these parameters.
DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, network::Fabric const& fabric,
                         StageParameters const& held);

/// Adds the last `data_traffic` above to the terms of an explanation: reduce_seconds, gather_seconds and blocking_seconds of
/// the parameters of `stage` (`explain_parameters`).
void explain_data_traffic(TermBook& book, StepSetting const& setting, Strategy const& strategy,
                          StageParameters const& held, TrainedParts const& trained);

/// Adds `hop_time` to the terms of an explanation, as hop_seconds.
void explain_hop(TermBook& book, StepSetting const& setting, Strategy const& strategy);

/// Adds copies to the host and its update to the terms of an explanation, of the parameters of `stage`:
/// kept_block_transfer_seconds, optimizer_transfer_seconds, host_update_seconds.
void explain_host_traffic(TermBook& book, StepSetting const& setting, Strategy const& strategy,
                          StageParameters const& held, TrainedParts const& trained);

/// Whether steps run into each other (PipeDream).
bool runs_without_flush(Strategy const& strategy);

/// Updates of the weights a step: one, or one a micro-batch where no flush parts the steps (PipeDream).
double updates_per_step(Strategy const& strategy, double micro_batches);

/// Whole gradients are reduced once an update; sharded ones (ZeRO 2 and 3) cannot wait for the last
/// micro-batch, because no rank holds their sum.
double reductions_per_step(Strategy const& strategy, Framework const& framework, double micro_batches);

/// ZeRO-3 gathers weights before the forward and before the backward pass; stacks that do not prefetch
/// release them again after recomputing a block, and gather a third time. Source: [StasMlEngineering]
double gathers_per_pass(Strategy const& strategy, Framework const& framework);

/// Where the ranks are, and what those that hold the same parameters send one another.
struct PlacedTraffic {
    Placement placement;
    DataTraffic data; ///< of the fullest stage
};
PlacedTraffic placed_traffic(StepSetting const& setting, Strategy const& strategy);

/// What crosses a stage boundary once a micro-batch and direction: each tensor rank sends its share of the
/// h-wide activations, the others rebuild it inside the domain. Source: [Narayanan2021]
Bytes boundary_bytes(StepSetting const& setting, Strategy const& strategy);

/// Time of one such transfer; nothing without a pipeline.
Seconds hop_time(StepSetting const& setting, Strategy const& strategy, network::Fabric const& fabric);
Seconds hop_time(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                 network::Fabric const& fabric);

/// What keeping state or activations with the host costs, a step.
///
///     transfer  gradients down and weights up, once a step; kept activations down and up, every micro-batch
///     update    optimizer bytes over the accelerator's share of the host's memory bandwidth
///
/// Source: [Ren2021]
struct HostTraffic {
    Seconds optimizer_transfer, update, activation_transfer;
};
HostTraffic host_traffic(StepSetting const& setting, Strategy const& strategy);
/// Transfer and update alone, of the state of these parameters; nothing where it stays.
HostTraffic state_with_the_host(StepSetting const& setting, Strategy const& strategy, StageParameters const& held,
                                TrainedParts const& trained);
/// What one block keeps of one micro-batch, one way; nothing where it stays.
Seconds kept_block_transfer(StepSetting const& setting, Strategy const& strategy);

} // namespace headroom::training
