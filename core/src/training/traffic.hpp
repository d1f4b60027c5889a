#pragma once

#include "stage.hpp"

#include "headroom/training/step.hpp"

#include <optional>

namespace headroom::training {

/// Data-parallel traffic of one set of parameters (dense or experts) on the fullest stage.
struct ParameterTraffic {
    Seconds reduce, gather;                   ///< duration of one full reduction, and of one full gather
    Seconds replicate;                        ///< duration of one reduction between shard groups (ZeRO 1 to 3)
    Bytes gradients, parameters;              ///< total bytes of reduction and gather
    double sent = 1.0;                        ///< bytes of compressed gradients over those without compression
    network::Group group = {}, replicas = {}; ///< ranks that reduce and gather; shard groups that sum their shards
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

/// Time of the products that an update makes for a parameter, seconds: Muon's, in 16 bits, shared among the ranks that hold
/// the optimizer's state as that is. LoRA matrices are too narrow to count.
double update_products(StepSetting const& setting, Strategy const& strategy);

/// Parameters of a rank of the fullest stage; with two directions those of both copies of the model.
StageParameters held_parameters(StepSetting const& setting, Strategy const& strategy);

/// Data-parallel traffic of a stage that holds the parameters `held`, of which the fractions `trained` are trained.
DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                         network::Fabric const& fabric, StageParameters const& held, TrainedParts const& trained);

/// Adds `data_traffic` above to the terms of an explanation: reduce_seconds, gather_seconds and blocking_seconds of
/// the parameters of `stage` (`explain_parameters`).
void explain_data_traffic(TermBook& book, StepSetting const& setting, Strategy const& strategy,
                          StageParameters const& held, TrainedParts const& trained);

/// Adds `hop_time` to the terms of an explanation, as hop_seconds.
void explain_hop(TermBook& book, StepSetting const& setting, Strategy const& strategy);

/// Adds copies to and from host memory and the update on the CPU to the terms of an explanation:
/// kept_block_transfer_seconds, optimizer_transfer_seconds, host_update_seconds of the parameters of `stage`.
void explain_host_traffic(TermBook& book, StepSetting const& setting, Strategy const& strategy,
                          StageParameters const& held, TrainedParts const& trained);

/// Whether consecutive steps overlap (PipeDream).
bool runs_without_flush(Strategy const& strategy);

/// Updates a step: one, or one a micro-batch in schedules without a flush (PipeDream).
double updates_per_step(Strategy const& strategy, double micro_batches);

/// Whether gradients are reduced after every micro-batch: ZeRO 2 and 3, in frameworks that keep gradients sharded between
/// micro-batches. With a pipeline whole gradients are kept, and reduced after the last one.
bool reduces_each_micro_batch(Strategy const& strategy, Framework const& framework);
/// Whether ZeRO 3 gathers weights in the passes of every micro-batch. With a pipeline it always does.
bool gathers_each_micro_batch(Strategy const& strategy, Framework const& framework);

/// Micro-batches of a step in which weights are gathered.
double gatherings_per_step(Strategy const& strategy, Framework const& framework, double micro_batches);
/// Reductions of gradients in a step: one for each micro-batch, or one for each update.
double reductions_per_step(Strategy const& strategy, Framework const& framework, double micro_batches);

/// Weight gathers of ZeRO 3 for the forward and backward pass of a micro-batch: 2. Frameworks that do not prefetch release
/// the weights after recomputing a block, and gather a third time. Source: [StasMlEngineering]
double gathers_of_micro_batch(Strategy const& strategy, Framework const& framework);

/// Exposed part of gradients or of gathered parameters.
enum class DataExposure {
    all,    ///< kernels wait for it
    most,   ///< the fraction `gradients_exposed_old` runs outside the passes, the rest overlaps with them
    excess, ///< the time by which it outlasts the passes that it overlaps with
};
/// Exposure of `gradients` or `parameters`: as the strategy states, else by framework. Frameworks that reduce after the
/// backward pass expose most traffic of ZeRO 0 to 2, and all of ZeRO 3.
DataExposure data_exposure(Strategy const& strategy, Framework const& framework, TrafficKind kind);

/// Placement of the ranks, and the traffic between ranks that hold the same parameters.
struct PlacedTraffic {
    Placement placement;
    StageParameters held; ///< by a rank of the fullest stage
    DataTraffic data;     ///< of that stage
};
PlacedTraffic placed_traffic(StepSetting const& setting, Strategy const& strategy);

/// Bytes that cross a stage boundary per micro-batch and direction. Each tensor rank sends its share of the h-wide
/// activations; the receivers gather it inside the domain. Source: [Narayanan2021]
Bytes boundary_bytes(StepSetting const& setting, Strategy const& strategy);

/// Duration of one transfer across a stage boundary, seconds; zero without a pipeline.
Seconds hop_time(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                 network::Fabric const& fabric);

/// Durations of offload to host memory in a step, seconds, whether exposed or not.
///
///     transfer  gradients down and weights up, once a step; offloaded weights go up for both passes of every
///               micro-batch
///     update    optimizer bytes over the accelerator's share of the host's memory bandwidth
///
/// Source:     [Ren2021]
struct HostTraffic {
    Seconds optimizer_transfer, update;
    Seconds upward; ///< copies of weights, included in `optimizer_transfer`
};
HostTraffic host_traffic(StepSetting const& setting, Strategy const& strategy);
/// Transfer and update of the offloaded state of these parameters; zero without offload.
HostTraffic state_with_the_host(StepSetting const& setting, Strategy const& strategy, StageParameters const& held,
                                TrainedParts const& trained);
/// Duration of one copy, down or up, of one block's kept activations of one micro-batch; zero without offload.
Seconds kept_block_transfer(StepSetting const& setting, Strategy const& strategy);

} // namespace headroom::training
