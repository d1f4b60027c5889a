#pragma once

#include "stage.hpp"

#include "headroom/training/step.hpp"

#include <optional>

namespace headroom::training {

/// Data-parallel traffic of one set of parameters (dense or experts) on the fullest stage.
struct ParameterTraffic {
    double parameters_held = 0.0;             ///< of one rank, before data-parallel sharding
    Seconds reduce, gather;                   ///< duration of one full reduction, and of one full gather
    Seconds replicate;                        ///< duration of one reduction between the copies of a ZeRO-3 shard group
    Bytes gradients, parameters;              ///< total bytes of reduction and gather
    double sent = 1.0;                        ///< fraction of the gradients' bytes that is sent, below 1 if compressed
    network::Group group = {}, replicas = {}; ///< ranks that reduce and gather; copies of the shard group
    [[nodiscard]] int ranks() const { return group.size * replicas.size; }
};

/// Data-parallel traffic of the fullest stage. Routed experts have a group of their own.
struct DataTraffic {
    ParameterTraffic dense, experts;
    /// Duration of blocking synchronisation (local updates, parameter servers), averaged over steps. All of it is
    /// exposed.
    Seconds blocking;
    Bytes blocking_bytes; ///< total bytes of blocking synchronisation, averaged over steps
    [[nodiscard]] Seconds reduce() const { return dense.reduce + dense.replicate + experts.reduce + experts.replicate; }
    [[nodiscard]] Seconds gather() const { return dense.gather + experts.gather; }
};
/// Sustained rate of an accelerator's memory.
BytesPerSecond sustained_memory(StepSetting const& setting);

/// Parameters of a rank of the fullest stage; with two directions the parts of both.
StageParameters held_parameters(StepSetting const& setting, Strategy const& strategy);

DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, network::Fabric const& fabric);
/// Data-parallel traffic of ranks that have been placed.
DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                         network::Fabric const& fabric);
DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                         network::Fabric const& fabric, StageParameters const& held);
/// Data-parallel traffic of a stage that holds and trains these parameters.
DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                         network::Fabric const& fabric, StageParameters const& held, TrainedParts const& trained);
/// Data-parallel traffic of a stage that holds these parameters.
DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, network::Fabric const& fabric,
                         StageParameters const& held);

/// Whether consecutive steps overlap (PipeDream).
bool runs_without_flush(Strategy const& strategy);

/// Updates a step: one, or one a micro-batch in schedules without a flush (PipeDream).
double updates_per_step(Strategy const& strategy, double micro_batches);

/// Reductions a step. Unsharded gradients are reduced once an update. Sharded ones (ZeRO 2 and 3) are reduced every
/// micro-batch, because no rank holds their sum, unless the framework gathers once a step.
double reductions_per_step(Strategy const& strategy, Framework const& framework, double micro_batches);

/// Weight gathers of ZeRO 3 a micro-batch: before the forward and before the backward pass. Frameworks that do not
/// prefetch release the weights after recomputing a block, and gather a third time. Source: [StasMlEngineering]
double gathers_per_pass(Strategy const& strategy, Framework const& framework);

/// Placement of the ranks, and the traffic between ranks that hold the same parameters.
struct PlacedTraffic {
    Placement placement;
    DataTraffic data; ///< of the fullest stage
};
PlacedTraffic placed_traffic(StepSetting const& setting, Strategy const& strategy);

/// Bytes that cross a stage boundary per micro-batch and direction. Each tensor rank sends its share of the h-wide
/// activations; the receivers gather it inside the domain. Source: [Narayanan2021]
Bytes boundary_bytes(StepSetting const& setting, Strategy const& strategy);

/// Duration of one transfer across a stage boundary, seconds; zero without a pipeline.
Seconds hop_time(StepSetting const& setting, Strategy const& strategy, network::Fabric const& fabric);
Seconds hop_time(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                 network::Fabric const& fabric);

/// Durations of offload to host memory in a step, seconds, whether exposed or not.
///
///     transfer  gradients down and weights up, once a step; kept activations down and up, every micro-batch
///     update    optimizer bytes over the accelerator's share of the host's memory bandwidth
///
/// Source:     [Ren2021]
struct HostTraffic {
    Seconds optimizer_transfer, update, activation_transfer;
};
HostTraffic host_traffic(StepSetting const& setting, Strategy const& strategy);
/// Transfer and update of the offloaded state of these parameters; zero without offload.
HostTraffic state_with_the_host(StepSetting const& setting, Strategy const& strategy, StageParameters const& held,
                                TrainedParts const& trained);
/// Duration of copying one block's kept activations of one micro-batch, one way; zero without offload.
Seconds kept_block_transfer(StepSetting const& setting, Strategy const& strategy);

} // namespace headroom::training
