#pragma once

#include "stage.hpp"
#include "traced.hpp"
#include "traffic.hpp"

#include "headroom/training/placement.hpp"
#include "headroom/training/step.hpp"

#include <optional>

namespace headroom::training {

/// The closed form is composed part by part, each part in a file of its own (`step_*.cpp`) over one frame. Written once;
/// `N` is double for speed or Traced for explanation.

/// Seconds of each part of a step; the fields of `StepTime`.
template <class N> struct Parts {
    N compute, host, tensor, context, experts, pipeline, data, bubble, optimizer, offload, imbalance, stragglers,
        overhead;
};
/// Times of a mean block that several parts read, with what an uneven host adds to them; and with what a slower one adds
/// where that does not depend on the traffic beside it.
struct BlockTimes {
    Seconds total, forward;
};
BlockTimes block_times(StepSetting const& setting, Strategy const& strategy, LayerCost const& block);

/// Shares of passes in which kernels wait anyway for a host that waits for the chip between passes or blocks; others' lead over
/// the chip carries on, and a step waits for them as a whole (`compose_host`).
struct HostIdle {
    double backward = 0.0, forward = 0.0;
};
HostIdle host_idle(StepSetting const& setting, Strategy const& strategy, LayerCost const& block,
                   BlockTimes const& times);
double idle_share(PassCost const& pass, Seconds window);

BytesPerSecond sustained_memory(StepSetting const& setting);

/// The stage whose passes a step is told by, and the one whose gradients and update end it.
struct PricedStage {
    SlowestStage stage;
    StageHolding holding;          ///< of the one that ends the step
    StageHolding accumulating;     ///< of the one that is told
    DataTraffic traffic;           ///< of the one that ends the step
    std::optional<LayerCosts> own; ///< costs with its own mean block, where blocks are frozen
    int holding_stage = 0;         ///< which one ends the step, where blocks are frozen
    double through_early = 0.0;    ///< seconds by which that is through before the first that has trained blocks
};
/// `where` the stage stands, where every stage has its own gradients and updates beside its passes; the whole: the slowest,
/// with the gradients of the fullest, or of the first where it ends the step.
PricedStage priced_stage(StagePlace where, StepSetting const& setting, Strategy const& strategy,
                         LayerCosts const& costs, SlowestStage const& slowest, PlacedTraffic const& placed,
                         network::Fabric const& fabric, std::optional<DataTraffic> const& first = {});
/// Without a flush the place of the stage that takes longest, for which all others wait; else the whole.
StagePlace priced_place(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                        SlowestStage const& slowest, PlacedTraffic const& placed);
/// The traffic of the first stage, where the step waits for its gradients and update though another one holds more: stages
/// drain towards it.
std::optional<DataTraffic> first_stage_ends(StepSetting const& setting, Strategy const& strategy,
                                            LayerCosts const& costs, PlacedTraffic const& placed);
/// What the fullest stage holds, of which the traffic is known.
StageHolding holding_at(StepSetting const& setting, Strategy const& strategy, DataTraffic const& fullest);

/// What a host that reads how many tokens each expert has gains of the traffic of ZeRO 3: it is a block ahead of the chip at
/// most, so while the ends of a pass are on their way it stands still.
struct LateBeside {
    double forward = 0.0, backward = 0.0; ///< seconds by which it gets ahead in the passes of a micro-batch
};

/// What every part of the closed form reads.
template <class N> struct Frame {
    StepSetting const& setting;
    Strategy const& strategy;
    LayerCosts const& costs;
    network::Fabric fabric;
    StageHolding holding;       ///< of the stage whose gradients and update end the step
    int holding_stage;          ///< which one, where blocks are frozen
    double through_early;       ///< seconds by which it is through before the first that has trained blocks
    DataTraffic const& traffic; ///< its own
    double accumulated;         ///< parameters of the slowest stage whose gradients are added up
    SlowestStage const& stage;
    double micro_batch_count;
    Recorder<N>& record;
    N micro_batches, layers;
    BlockTimes block_times;
    Placement placement;
    Seconds hop; ///< of one transfer between stages
    /// Seconds that weights and gradients add to rows that were run with them; else negative.
    double traffic_in_rows = -1.0;
    double accumulation = 0.0;   ///< seconds that adding one micro-batch's gradients up takes
    double after_kernels = 0.0;  ///< seconds of data-parallel traffic behind the last kernel, filled by `compose_data`
    LateBeside late_beside = {}; ///< of ZeRO 3, filled by `compose_data`
    double shown_copies = 0.0;   ///< to and from the host, filled by `compose_offload`
    double slowed_passes = 0.0;  ///< without a flush: what traffic adds to a stage's passes
    N block, ends, ends_tensor, ends_experts, ends_ahead; ///< filled by `compose_stage`

    /// Whether the host issues blocks while the chip works on the ends of the model.
    [[nodiscard]] bool host_gets_ahead() const {
        return strategy.pp > 1 && (stage.ahead.embedding.base() > 0.0 || stage.ahead.head.base() > 0.0);
    }
    /// What blocks beside the head add, where there are any, less what the host gains on the ends of the model.
    N with_ahead(N const& rest, N const& ahead) const {
        return setting.model.prediction_layers > 0 || host_gets_ahead() ? rest + ahead : rest;
    }
    N in(char const* name, double value) const { return record.input(name, value); }
    N in(char const* name, Constant constant) const { return record.input(name, setting.constants[constant]); }
};

/// Parameters of a rank of which a part of the training state is kept, and is trained.
inline double kept_of(Strategy const& strategy, StageHolding const& of, double Shards::*part) {
    return of.trained.dense * of.held.dense / shards_of(strategy).*part +
           of.trained.experts * of.held.experts / expert_shards_of(strategy).*part;
}
/// Gradients of one reduction. Source: [MegatronLM]
inline constexpr double bucket_elements = 40e6;

/// What one update of the optimizer takes; on the host it is not the accelerator's.
template <class N> double update_seconds(Frame<N> const& f) {
    if (offloads_optimizer(f.strategy.offload)) { return 0.0; }
    return f.setting.constants[Constant::optimizer_traffic] * kept_of(f.strategy, f.holding, &Shards::optimizer) /
           sustained_memory(f.setting).base();
}
/// Two directions hold two parts of the model, and a micro-batch passes one of them.
bool has_two_directions(Strategy const& strategy);

/// Traffic of a block that leaves by the adapter of gradients and weights: what it shows more while those are under way,
/// for it takes twice as long; what is hidden; and the part of what shows that stands in the forward pass.
///
///     shows more   max(2 e, 2 T - W) - e,   of e shown of T beside computation W
struct AdapterUse {
    double shown = 0.0, hidden = 0.0, forward_share = 0.0;
    double all = 0.0; ///< seconds of it
};
AdapterUse adapter_use(Placement const& placement, LayerCost const& block);

/// A pass of a mean block, and how traffic beside it slows its kernels.
struct BlockPass {
    double seconds = 0.0, kernels = 1.0;  ///< kernels: share
    PassOutline const* outline = nullptr; ///< where its kernels are; none: all along
    double paced = 1.0;                   ///< its time over that of kernels and collectives
    double idle = 0.0; ///< share in which kernels wait for the host anyway, and make up for what they lose
    /// What it loses to traffic that begins with it, and what outlasts the blocks that are shorter than others.
    [[nodiscard]] PassOutline::Beside beside(double traffic, double loss) const;
    /// Slowed all along: what it loses, and its time then.
    [[nodiscard]] double most_lost(double loss) const;
    [[nodiscard]] double slowed(double loss) const { return seconds + most_lost(loss); }
    /// By how much more of the first so many seconds is collectives than of all of it.
    [[nodiscard]] double more_collectives(double traffic) const;
    /// What passes that follow one another lose to traffic beside the first of them on.
    [[nodiscard]] double lost_in(double traffic, double loss, double passes) const;
};
/// `idle`: share of it in which kernels wait for the host.
template <class N> BlockPass forward_pass(Frame<N> const& f, double idle = 0.0);
template <class N> BlockPass backward_pass(Frame<N> const& f, double idle = 0.0);

/// Gathers and reductions of a part of a stage: its embedding, one block, its head; elements are those that are reduced.
struct UnitTimes {
    double gather = 0.0, reduce = 0.0, elements = 0.0;
};
template <class N> UnitTimes unit_times(Frame<N> const& f, StageParameters const& unit);

/// Kernels, host, tensor and context parts of the slowest stage, over all its micro-batches.
template <class N> void compose_stage(Frame<N>& f, Parts<N>& parts);

/// The slowest stage works m times; filling and draining costs the other stages once, over v when each holds v chunks
/// that take turns; other schedules wait as their rows of the table say. Transfers show while the pipeline fills and
/// drains, and in between where the slowest stage has no time to wait for them: faster ones have (slowest - mean) a
/// micro-batch.
/// Source: [Narayanan2021], [Qi2024], [Qi2024b], [DualPipe]
template <class N> void compose_pipeline(Frame<N>& f, N const& both_ends, Parts<N>& parts);

/// Without a flush a stage does its passes, its update and what shows of its gradients and weights, and waits for nobody but
/// the windows of neighbours that it begins: what transfers add to them.
template <class N> void compose_windows(Frame<N>& f, Parts<N>& parts);
/// What the host adds to the passes of one stage, after `compose_data` and `compose_offload`: in time that traffic takes of the chip it gets ahead.
template <class N> void compose_host(Frame<N>& f, Parts<N>& parts);

/// Gradient reduction and weight gathering beyond what hides behind computation.
template <class N> void compose_data(Frame<N>& f, Parts<N>& parts);

/// ZeRO 3: what gathers and reductions add to a step. While a block works the weights of the next are gathered, in the
/// backward pass after the gradients of the one before have been reduced; the first gathering and the last reduction have
/// nothing to run behind.
///
///     forward   embedding | block 2,  block | next block,  last block | head,  head | itself, for the backward pass
///     backward  head | block,  block | gradients of the one before + next block,  first block | ... + embedding
///
/// Source:     [Zhao2023]
struct ShardedSeconds {
    double all = 0.0;
    double forward = 0.0, backward = 0.0; ///< of one pass each
};
template <class N> ShardedSeconds sharded_seconds(Frame<N> const& f, double passes, double gathers);
/// Parts of a stage that are gathered and reduced one by one: the embedding, a block, and the head, of which a tied table has
/// a part with the embedding.
struct ShardedUnits {
    UnitTimes table, block, top;
};
template <class N> ShardedUnits sharded_units(Frame<N> const& f);

/// Transfers to and from the host hide behind the pass that they are of; its update hides behind nothing.
/// Source: [Ren2021]
template <class N> void compose_offload(Frame<N>& f, Parts<N>& parts);

} // namespace headroom::training
