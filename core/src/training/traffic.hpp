#pragma once

#include "headroom/step.hpp"

namespace headroom {

/// What the fullest stage sends to its data-parallel peers.
struct DataTraffic {
    double local_parameters = 0.0; ///< of one rank before any data-parallel sharding
    Seconds reduce, gather;        ///< of one whole reduction and of one whole gathering
    Seconds replicate;             ///< of one reduction between the copies of a ZeRO-3 shard group
    Bytes gradients, parameters;   ///< total bytes of those
    int ranks = 1;
};
DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Fabric const& fabric);

/// Whole gradients are reduced once a step; sharded ones (ZeRO 2 and 3) cannot wait for the last
/// micro-batch, because no rank holds their sum.
double reductions_per_step(Strategy const& strategy, Framework const& framework, double micro_batches);

/// ZeRO-3 gathers weights before the forward and before the backward pass; stacks that do not prefetch
/// release them again after recomputing a block, and gather a third time. Source: [StasMlEngineering]
double gathers_per_pass(Strategy const& strategy, Framework const& framework);

/// Whether the output projection is slower than the embedding: with a pipeline they are on different stages.
bool end_is_slower(LayerCost const& head, LayerCost const& embedding);

/// What crosses a stage boundary once a micro-batch and direction: each tensor rank sends its share of the
/// h-wide activations, the others rebuild it inside the domain. Source: [Narayanan2021]
Bytes boundary_bytes(StepSetting const& setting, Strategy const& strategy);

/// Time of one such transfer; nothing without a pipeline.
Seconds hop_time(StepSetting const& setting, Strategy const& strategy, Fabric const& fabric);

} // namespace headroom
