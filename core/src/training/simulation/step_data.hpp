#pragma once

#include "step_passes.hpp"
#include "training/traffic.hpp"

namespace headroom::training::simulation {

/// What the parameters of one unit of a chunk send and keep: ticks of whole transfers.
struct UnitTraffic {
    Ticks reduce = 0, gather = 0;
    Ticks compress = 0;               ///< computation before gradients are sent
    Ticks host_down = 0, host_up = 0; ///< of an optimizer that is kept with the host, and its weights
    Ticks kept_copy = 0;              ///< kept activations of one micro-batch, one way
    double elements = 0.0;            ///< gradients that are reduced
};

/// Work of a stage that no pass has.
struct StageTraffic {
    std::vector<std::vector<UnitTraffic>> units; ///< by chunk, in the order of the forward pass
    std::vector<Ticks> accumulate;               ///< by chunk: adding a micro-batch's gradients up
    Ticks update = 0, host_update = 0;
    Ticks blocking = 0; ///< what takes the place of the reduction and hides behind nothing
};

/// How data-parallel traffic runs.
struct DataRules {
    bool sharded = false;           ///< ZeRO 3: weights are gathered block by block
    bool gathers = false;           ///< ZeRO 1 and 2: updated weights, before the first forward pass
    bool in_the_way = false;        ///< hides behind nothing
    bool every_micro_batch = false; ///< gradients are reduced after each
    double shown = 0.0;             ///< share that runs after the backward pass and before the forward pass
    double slowdown = 0.0;
    double backward_gathers = 1.0; ///< of a block's weights, before its backward pass
};

/// Data-parallel traffic of the parameters that a stage holds and trains.
DataTraffic data_traffic_of(StepSetting const& setting, Strategy const& strategy, int stage);

DataRules data_rules(StepSetting const& setting, Strategy const& strategy);
/// `messages` say what becomes of its collectives; none: they stay as the closed form has them.
StageTraffic stage_traffic(StepSetting const& setting, Strategy const& strategy, StepLayout const& layout, int stage,
                           StepMessages* messages = nullptr);

/// Adds the traffic and the state of a stage to the terms of an explanation: of `explain_data_traffic` and
/// `explain_host_traffic`, and accumulate_seconds, compress_seconds and update_seconds.
void explain_stage_traffic(TermBook& book, StepSetting const& setting, Strategy const& strategy,
                           StepLayout const& layout, int stage);

} // namespace headroom::training::simulation
