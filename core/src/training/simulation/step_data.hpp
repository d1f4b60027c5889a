#pragma once

#include "step_passes.hpp"
#include "training/traffic.hpp"

namespace headroom::training::simulation {

/// Data-parallel traffic and host copies of one unit of a chunk (`ChunkWork::units`): durations of whole transfers, ticks.
struct UnitTraffic {
    Ticks reduce = 0, gather = 0;
    Ticks compress = 0;               ///< computation before gradients are sent
    Ticks host_down = 0, host_up = 0; ///< with the optimizer in host memory: gradients down, weights up
    Ticks kept_copy = 0;              ///< one copy of a micro-batch's kept activations, down or up
    double elements = 0.0;            ///< number of gradients that are reduced
    bool operator==(UnitTraffic const&) const = default;
};

/// Work of a stage outside its passes.
struct StageTraffic {
    std::vector<std::vector<UnitTraffic>> units; ///< by chunk, in the order of the forward pass
    std::vector<Ticks> accumulate;               ///< by chunk: accumulating a micro-batch's gradients
    Ticks update = 0, host_update = 0;
    Ticks blocking = 0; ///< synchronisation in place of the reduction; exposed
};

/// Exposed part of gradients, or of gathered weights.
struct ExposedTraffic {
    bool blocks = false; ///< kernels of the next layer wait for it (ZeRO 3)
    double share = 0.0;  ///< fraction that runs after the backward pass, or before the forward pass (ZeRO 0 to 2)
};

/// Order and overlap of data-parallel traffic.
struct DataRules {
    bool sharded = false; ///< ZeRO 3: weights are gathered block by block
    bool gathers = false; ///< ZeRO 1 and 2: updated weights are gathered for the first forward pass
    ExposedTraffic reduce, gather;
    bool reduces_each_micro_batch = false;
    bool gathers_each_micro_batch = false;
    double slowdown = 0.0;
    double backward_gathers = 1.0; ///< gathers of a block's weights before its backward pass
};

/// Data-parallel traffic of the parameters that a stage holds and trains.
DataTraffic data_traffic_of(StepSetting const& setting, Strategy const& strategy, int stage);

DataRules data_rules(StepSetting const& setting, Strategy const& strategy);
/// Traffic, accumulation and update of a stage. `messages` price its collectives by their messages; null: closed forms.
StageTraffic stage_traffic(StepSetting const& setting, Strategy const& strategy, StepLayout const& layout, int stage,
                           StepMessages* messages = nullptr);

/// Adds the traffic of a stage to the terms of an explanation: those of `explain_data_traffic` and
/// `explain_host_traffic`, and accumulate_seconds, compress_seconds and update_seconds.
void explain_stage_traffic(TermBook& book, StepSetting const& setting, Strategy const& strategy,
                           StepLayout const& layout, int stage);

} // namespace headroom::training::simulation
