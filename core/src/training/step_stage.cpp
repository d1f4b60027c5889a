#include "step_frame.hpp"

#include <algorithm>

namespace headroom::training {

using namespace headroom::network;

namespace {

/// Costs whose mean block is that of a stage with so many frozen and so many trained ones, and the stage's depth in them.
LayerCosts costs_of_stage(LayerCosts const& costs, StageHolding const& of, SlowestStage& stage) {
    LayerCosts own{.embedding = costs.embedding,
                   .block = {},
                   .frozen = costs.frozen,
                   .trained = costs.trained,
                   .frozen_blocks = costs.frozen_blocks,
                   .head = costs.head};
    double const blocks = of.frozen_blocks + of.trained_blocks;
    own.block.add(costs.frozen, of.frozen_blocks / blocks);
    own.block.add(costs.trained, of.trained_blocks / blocks);
    double const shorter = own.block.total().base() > 0.0 ? costs.block.total() / own.block.total() : 1.0;
    stage.layers *= shorter;
    stage.model_layers *= shorter;
    stage.block_time = own.block.total();
    return own;
}

/// Where only the last blocks are trained: the stage that is through last. The pipeline drains to the first that has trained
/// blocks, but a later one may have more gradients than it has time to send meanwhile.
struct LastThrough {
    int stage = 0;
    double early = 0.0; ///< seconds between the end of its last backward pass and the end of all
};

LastThrough last_through(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                         Placement const& placement, Fabric const& fabric) {
    int const first = stage_of_first_trained(setting, strategy);
    double const backward = (costs.trained.total() - costs.trained.forward()).base();
    LastThrough last{.stage = first};
    double most = 0.0, early = 0.0;
    for (int stage = first; stage < strategy.pp; ++stage) {
        auto const of = holding_of_last_blocks(setting, strategy, stage);
        auto const traffic = data_traffic(setting, strategy, placement, fabric, of.held, of.trained);
        double const own = of.trained_blocks * backward;
        double const update = setting.constants[Constant::optimizer_traffic] *
                              kept_of(strategy, of, &Shards::optimizer) / sustained_memory(setting).base();
        double const after = std::max(0.0, traffic.reduce().base() - own) + traffic.blocking.base() + update - early;
        if (stage == first || after > most) { most = after, last = {.stage = stage, .early = early}; }
        early += own;
    }
    return last;
}

} // namespace

std::optional<DataTraffic> first_stage_ends(StepSetting const& setting, Strategy const& strategy,
                                            LayerCosts const& costs, PlacedTraffic const& placed) {
    if (!placed.first || costs.frozen_blocks > 0) { return {}; }
    auto const& traffic = *placed.first;
    auto const fullest = holding_at(setting, strategy, placed.data);
    StageHolding const first{
        .held = {.dense = traffic.dense.parameters_held, .experts = traffic.experts.parameters_held},
        .trained = fullest.trained};
    double const backward =
        (costs.block.total() - costs.block.forward()).base() * depth_of(setting.model) / strategy.pp;
    auto const after = [&](StageHolding const& of, DataTraffic const& sent) {
        double const update = setting.constants[Constant::optimizer_traffic] *
                              kept_of(strategy, of, &Shards::optimizer) / sustained_memory(setting).base();
        return std::max(0.0, sent.reduce().base() - backward) + sent.blocking.base() + update;
    };
    double const early = (strategy.pp - 1.0) * backward / pipeline_shape(strategy, setting.workload).chunks;
    if (after(first, traffic) < after(fullest, placed.data) - early) { return {}; }
    return traffic;
}

StageHolding holding_at(StepSetting const& setting, Strategy const& strategy, DataTraffic const& fullest) {
    return {.held = {.dense = fullest.dense.parameters_held, .experts = fullest.experts.parameters_held},
            .trained = trained_parts(strategy, setting.model, setting.count)};
}

PricedStage priced_stage(StagePlace where, StepSetting const& setting, Strategy const& strategy,
                         LayerCosts const& costs, SlowestStage const& slowest, PlacedTraffic const& placed,
                         Fabric const& fabric, std::optional<DataTraffic> const& first) {
    bool const any = where == StagePlace::whole;
    PricedStage of{.stage = any ? slowest : stage_at(setting, strategy, costs, where),
                   .holding = holding_at(setting, strategy, placed.data),
                   .accumulating = {},
                   .traffic = placed.data,
                   .own = {}};
    if (first) {
        of.accumulating = of.holding; // all that works longest adds up
        of.holding.held = {.dense = first->dense.parameters_held, .experts = first->experts.parameters_held};
        of.traffic = *first;
        return of;
    }
    if (!any) { of.holding.held = stage_parameters(setting, strategy, where); }
    of.accumulating = of.holding;
    if (costs.frozen_blocks > 0) {
        if (strategy.pp > 1) {
            auto const ends = any ? last_through(setting, strategy, costs, placed.placement, fabric)
                                  : LastThrough{.stage = of.stage.index};
            of.holding_stage = ends.stage;
            of.through_early = ends.early;
        }
        of.holding = holding_of_last_blocks(setting, strategy, of.holding_stage);
        of.accumulating = holding_of_last_blocks(setting, strategy, of.stage.index);
        if (strategy.pp > 1) { of.own = costs_of_stage(costs, of.accumulating, of.stage); }
    }
    if (!any || costs.frozen_blocks > 0) {
        of.traffic = data_traffic(setting, strategy, placed.placement, fabric, of.holding.held, of.holding.trained);
    }
    return of;
}

} // namespace headroom::training
