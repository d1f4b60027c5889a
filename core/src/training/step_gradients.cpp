#include "step_beside_blocks.hpp"
#include "step_frame.hpp"
#include "step_turns.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace headroom::training {

using namespace headroom::network;

namespace {

/// What data-parallel traffic takes, how often it comes, and the computation that it can run behind.
template <class N> struct Exposure {
    N reduce, gather, backward_window, forward_window, compute_window, passes, gathers, reductions;
    N window_between; ///< computation between reductions, which hide behind it too
    N first_block;    ///< share of the weights that the first pass waits for: its block's, with the embedding's
    N last_bucket; ///< share of the traffic that waits for the end of the backward pass, or that the first block waits for
    N updates;     ///< of a step: each waits for the gradients that were made last
    N adding_up; ///< computation that follows the last backward pass, with nothing to wait for
    N kernels;   ///< share of the computation that is kernels: the rest is no slower beside traffic
    N adapter_backward, adapter_forward; ///< share of the windows in which other traffic has the adapter, and shows
    N adapter_forward_all, adapter_backward_all; ///< seconds of other traffic by the adapter in the windows
    N unsent;                                    ///< of the backward windows, until the first bucket is full
    N before_last; ///< share of a forward pass before its last block, which waits for all weights
    N adapter_hop; ///< a transfer to the stage before that has the adapter in common with gradients
    N lost_backward, lost_drained, last_buckets, lost_gathering; ///< blocks that reduce one by one: see `BesideBlocks`
    N sharded; ///< ZeRO 3: what a step shows of gathers and reductions, visit by visit
    N drained; ///< stages whose last backward pass is over before, one after the other
    N old_share, loss, shard_loss;
    N idle_backward, idle_forward; ///< share of the windows in which kernels wait for the host anyway
};

/// What kernels lose to traffic beside them: l of their rate while it lasts. They are a share k of their window W.
/// Those that wait for the host meanwhile, for a share i of the window, make up for it.
///
///     [k min(l T, l / (1 - l) W) - i min(T, W)]+
template <class N> N slowed(Exposure<N> const& e, N const& traffic, N const& window, N const& loss, N const& idle) {
    N const slower = e.kernels * smaller(loss * traffic, loss / (literal<N>(1.0) - loss) * window);
    return value_of(idle) > 0.0 ? larger(slower - idle * smaller(traffic, window), literal<N>(0.0)) : slower;
}

/// Stacks that send a share of their gradients behind the backward pass, and of weights before the forward pass: it shows, and so
/// does what of the rest is longer than the pass that it hides behind.
template <class N> N exposed_behind(Exposure<N> const& e, N const& reduce, N const& window) {
    N const behind = e.old_share * (reduce + e.gather), hidden = literal<N>(1.0) - e.old_share;
    double const longer = std::max(value_of(hidden * reduce - window), value_of(hidden * e.gather - e.forward_window));
    if (longer <= 0.0) { return behind; }
    return behind + larger(hidden * reduce - window, literal<N>(0.0)) +
           larger(hidden * e.gather - e.forward_window, literal<N>(0.0));
}

/// The part of data-parallel time that shows: what does not fit its window or slows the kernels that it runs behind,
/// whichever is more.
///
///     ZeRO 0 to 2   max(s_b + [u R - a]+, R - W_b) + max(s_f + v G, G - W_f),   W_b = r (one backward window)
///                   + x_b min(R, W_b) + x_f min(G, W_f)
///     ZeRO 3        block by block: `sharded_seconds`
///
/// Where hidden reductions leave block by block (`beside_blocks`), s_b and s_f are what kernels of those blocks lose, and a
/// bucket is sent when it is full; other schedules take a share of the window:
/// x is the share of a window in which other traffic leaves by the same adapter and shows: both then take twice as long.
/// s = k min(l T, l / (1 - l) W) is what kernels lose to traffic T beside them; u the share of the traffic that has nothing
/// to run behind, for it waits for the last block or the first block waits for it; a what
/// adding gradients up takes, which is behind the last block; v the share of the weights that the first block has. Without a flush
/// the first maximum is of one micro-batch, m times. None of it shows more than all that is sent.
/// Stacks that reduce after the backward pass show a fixed share of all of it, and what of the rest outlasts its window; without overlap all of it shows.
/// Source:     [Li2020], [Zhao2023]
template <class N>
N exposed_data(Exposure<N> const& e, Strategy const& strategy, GradientOverlap style, bool fully_exposed,
               bool block_by_block) {
    if (fully_exposed) {
        return strategy.zero == 3 ? e.passes * (e.gathers * e.gather + e.reduce) : e.reductions * e.reduce + e.gather;
    }
    if (strategy.zero == 3) {
        N traffic = e.passes * (e.gathers * e.gather + e.reduce);
        return style == GradientOverlap::exposed ? traffic : smaller(e.sharded, traffic);
    }
    N const reduce = e.reductions * e.reduce;
    N const window = e.reductions * e.backward_window;
    if (style == GradientOverlap::exposed) { return exposed_behind(e, reduce, window); }
    if (block_by_block) {
        N const last = larger(e.last_buckets - e.adding_up, literal<N>(0.0));
        N const beside = smaller(larger(reduce - last, literal<N>(0.0)), window);
        // kernels that wait for the host make up for it
        N const spare = larger((e.idle_backward - e.loss * e.kernels) * beside, literal<N>(0.0));
        N const meets = larger(e.adapter_backward * beside - spare, literal<N>(0.0));
        // an adapter that is never idle sends all of both
        N const queued = reduce + e.adapter_backward_all + e.unsent - window - e.window_between;
        N const backward = larger(e.lost_backward + last + meets, queued);
        N const others = e.adapter_forward * smaller(e.gather, e.forward_window);
        return smaller(backward + e.lost_gathering + others, reduce + e.gather); // no more than without overlap
    }
    N const behind_first = literal<N>(1.0) - e.first_block;
    N const tail = e.updates * larger(smaller(e.last_bucket * e.reduce, reduce) - e.adding_up, literal<N>(0.0));
    N const all_windows =
        window + e.window_between; // of ZeRO 2: what outlasts a backward pass slows the next forward pass
    N const slow = slowed(e, larger(reduce - tail, literal<N>(0.0)), all_windows, e.loss, e.idle_backward);
    N const behind_backward =
        larger(slow + tail + e.adapter_backward * smaller(larger(reduce - tail, literal<N>(0.0)), window),
               reduce + e.adapter_backward_all + e.unsent - window - e.window_between);
    N const behind_forward =
        larger(slowed(e, behind_first * e.gather, e.forward_window, e.loss, e.idle_forward) + e.first_block * e.gather +
                   e.adapter_forward * smaller(behind_first * e.gather, e.forward_window),
               e.gather + e.adapter_forward_all - e.before_last * e.forward_window);
    return behind_backward + behind_forward;
}

/// Without a flush: by how much the passes of every stage are longer beside its gradients and weights.
template <class N> double slowed_passes(Exposure<N> const& e, Strategy const& strategy, GradientOverlap style) {
    if (style == GradientOverlap::exposed || strategy.overlap == Overlap::off) { return 0.0; }
    N const before_last = literal<N>(1.0) - e.last_bucket, behind_first = literal<N>(1.0) - e.first_block;
    return value_of(
        slowed(e, before_last * e.reductions * e.reduce, e.reductions * e.backward_window, e.loss, e.idle_backward) +
        slowed(e, behind_first * e.gather, e.forward_window, e.loss, e.idle_forward));
}

/// Without a flush: the gradients that are made last leave by the same adapter as what the backward pass hands on.
template <class N> N meets_transfers(Exposure<N> const& e, GradientOverlap style) {
    N const tail = style == GradientOverlap::exposed ? e.old_share * e.reduce : e.last_bucket * e.reduce;
    return e.updates * smaller(e.adapter_hop, tail);
}

/// What the stages of a pipeline that drain before the first add to its wait: the last pass of each is slowed by the
/// reduction of its own gradients, and what it hands on has the adapter in common with the rest of it; the next stage
/// waits for it.
template <class N> N slowed_drain(Exposure<N> const& e, bool block_by_block) {
    N const tail = larger(e.last_bucket * e.reduce - e.adding_up, literal<N>(0.0));
    N const last = larger(e.reductions * e.reduce - tail, literal<N>(0.0));
    N const window = e.reductions * e.backward_window;
    N const after = larger(tail, larger(e.reductions * e.reduce - window, literal<N>(0.0)));
    N const lost = block_by_block ? e.lost_drained : slowed(e, last, window, e.loss, e.idle_backward);
    return e.drained * (lost + e.adapter_backward * smaller(last, window) + smaller(e.adapter_hop, after));
}

/// The same of stacks that reduce behind the last backward pass: what that hands on has the adapter in common with them.
template <class N> N meets_last_transfers(Exposure<N> const& e, bool fully_exposed) {
    N const behind = fully_exposed ? e.reduce : e.old_share * e.reduce;
    return e.drained * smaller(e.adapter_hop, behind);
}

/// Those, where the embedding is trained and the stage has it: where steps end, the first stage is the last to be through.
template <class N> Units units_of(Frame<N> const& f) {
    bool const has_table = f.costs.frozen_blocks == 0 && (!runs_without_flush(f.strategy) || f.stage.embedding > 0.0);
    return {.block = stage_parameters(f.setting, f.strategy, StageShare{.blocks = 1.0}),
            .table =
                has_table ? stage_parameters(f.setting, f.strategy, StageShare{.first = true}) : StageParameters{}};
}

/// What a stage sends of: where only the last blocks are trained, those.
template <class N> double trained_of(Frame<N> const& f) {
    if (f.costs.frozen_blocks == 0) { return f.traffic.dense.parameters_held + f.traffic.experts.parameters_held; }
    auto const& [held, trained] = std::tie(f.holding.held, f.holding.trained);
    return held.dense * trained.dense + held.experts * trained.experts;
}
template <class N> double trained_blocks(Frame<N> const& f) {
    return f.costs.frozen_blocks > 0 ? f.holding.trained_blocks : f.stage.layers;
}

/// Share of a stage's gradients that are made last of all: the last bucket, and the table of the embedding.
template <class N> double last_bucket_share(Frame<N> const& f, Units const& units) {
    double const held = trained_of(f);
    if (held <= 0.0) { return 0.0; }
    double const blocks = trained_blocks(f) * units.block.all();
    return std::min(1.0, (units.table.all() + std::min(bucket_elements, blocks)) / held);
}

/// Share of a stage's weights that its first block has, and the embedding.
template <class N> double first_block_share(Frame<N> const& f, Units const& units) {
    double const held = trained_of(f);
    return held > 0.0 ? std::min(1.0, (units.table.all() + units.block.all()) / held) : 0.0;
}

/// What traffic of ZeRO 3 gives a host that is late, of passes that send r G and r ((g - 1) G + R) in all a micro-batch. In the way
/// of kernels all of it shows, and that of the ends of a pass while the host stands still: it issues a block when the one before
/// the last has been worked off. Beside kernels no pass shows more than it sends.
template <class N>
LateBeside late_beside(Frame<N> const& f, ShardedSeconds const& by_pass, Exposure<N> const& e, double shown,
                       bool in_the_way) {
    double const gather = value_of(e.gather), again = value_of(e.gathers) - 1.0;
    double const each = value_of(e.passes) / f.micro_batch_count;
    double const forward = each * gather, backward = each * (again * gather + value_of(e.reduce));
    if (in_the_way) {
        auto const [table, block, top] = sharded_units(f);
        return {.forward = std::max(0.0, forward - top.gather),
                .backward = std::max(0.0, backward - block.reduce - again * table.gather - table.reduce)};
    }
    double const both = by_pass.forward + by_pass.backward, all = shown / f.micro_batch_count;
    double const part = both > 0.0 ? all * by_pass.forward / both : 0.0;
    double const in_forward = std::min(forward, std::max(part, all - backward));
    return {.forward = in_forward, .backward = all - in_forward};
}

/// Data-parallel traffic that is left when the host has issued all and the chip has caught up with it.
/// `beside`: where its gradients leave block by block.
template <class N>
double after_kernels(Frame<N> const& f, Exposure<N> const& e, bool fully_exposed, BesideBlocks const* beside) {
    double const reduce = value_of(e.reductions) * value_of(e.reduce);
    bool const in_the_way = fully_exposed || f.setting.framework.gradient_overlap == GradientOverlap::exposed;
    if (f.strategy.zero == 3) { // of the first block and the embedding, which is gathered before its pass
        auto const [table, block, top] = sharded_units(f);
        double const gathered = in_the_way ? (value_of(e.gathers) - 1.0) * table.gather : 0.0;
        return block.reduce + table.reduce + gathered;
    }
    if (fully_exposed) { return reduce; }
    if (in_the_way) { return value_of(e.old_share) * reduce; }
    double const window = value_of(e.reductions) * f.stage.layers * issued_backward(f);
    double const between = value_of(e.window_between);
    double const last = beside != nullptr ? beside->last_when_issued : value_of(e.last_bucket) * value_of(e.reduce);
    return std::max(last - f.accumulation, reduce - window - between);
}

double share_of(double part, double window) { return window > 0.0 ? std::min(1.0, part / window) : 0.0; }

/// Chunks of interleaved 1F1B that send their weights and gradients in turn, of the stage that works longest.
template <class N>
ChunksInTurn chunks_in_turn(Frame<N> const& f, Exposure<N> const& e, AdapterUse const& use, double forward,
                            double backward, Units const& units) {
    double const chunks = pipeline_shape(f.strategy, f.setting.workload).chunks, tail = value_of(e.last_bucket);
    auto const block = unit_times(f, units.block), table = unit_times(f, units.table);
    double const blocks = std::max(1.0, f.stage.layers / chunks);
    double const reduce = value_of(e.reduce), gather = value_of(e.gather);
    double const elements = (f.traffic.dense.gradients + f.traffic.experts.gradients).base() /
                            state_widths(f.setting.framework, f.strategy.precision).reduced / chunks;
    return {.stages = f.strategy.pp * 1.0,
            .chunks = chunks,
            .forward = forward / chunks,
            .backward = (backward + f.accumulation) / chunks,
            .hop = f.hop.base(),
            .gather = gather,
            .first_gather = value_of(e.first_block) * gather,
            .reduce = reduce,
            .last_reduce = std::max(0.0, tail * reduce - f.accumulation / chunks),
            .early = elements > 0.0 ? std::max(0.0, 1.0 - bucket_elements / elements) : 0.0,
            .blocks = blocks,
            .first_bucket = blocks_of_first_bucket(block.elements, blocks) * backward / chunks / blocks,
            .table = table.reduce,
            .kernels = value_of(e.kernels),
            .loss = value_of(e.loss),
            .adapter_forward = value_of(e.adapter_forward),
            .adapter_backward = value_of(e.adapter_backward),
            .hidden_forward = share_of(use.hidden * use.forward_share * f.stage.layers, forward),
            .hidden_backward = share_of(use.hidden * (1.0 - use.forward_share) * f.stage.layers, backward),
            .idle_forward = value_of(e.idle_forward),
            .idle_backward = value_of(e.idle_backward),
            .adapter_hop = value_of(e.adapter_hop)};
}

/// A transfer between stages that leaves by the adapter of the gradients.
template <class N> double adapter_hop(Frame<N> const& f) {
    if (f.strategy.pp == 1) { return 0.0; }
    bool const shared = f.placement.pipeline_leaves_domain && f.placement.data.domains() > 1;
    return shared ? f.hop.base() : 0.0;
}

} // namespace

HostIdle host_idle(StepSetting const& setting, Strategy const& strategy, LayerCost const& block,
                   BlockTimes const& times) {
    if (block.host.base() <= 0.0 || !host_waits(setting.model, strategy)) { return {}; }
    return {.backward = idle_share(block.backward_pass(), times.total - times.forward),
            .forward = idle_share(block.forward_pass(), times.forward)};
}

double idle_share(PassCost const& pass, Seconds window) {
    constexpr double rounding = 1e-9; // a window may be the host's time as a difference of sums
    bool const waits = window.base() > 0.0 && pass.host > pass.chip && window >= pass.host * (1.0 - rounding);
    return waits ? (pass.host - pass.chip) / window : 0.0;
}

AdapterUse adapter_use(Placement const& placement, LayerCost const& block) {
    AdapterUse use;
    if (placement.data.domains() == 1) { return use; }
    auto const add = [&use](Group const& group, Seconds all, Seconds exposed, Seconds beside) {
        if (group.domains() == 1) { return; }
        use.hidden += std::max(0.0, (all - exposed).base());
        use.all += all.base();
        use.shown += (std::max(2.0 * exposed, 2.0 * all - beside) - exposed).base();
    };
    Seconds const core = block.attention - block.recomputed_core;
    add(placement.tensor, block.tensor, block.tensor_exposed, block.gemm);
    add(placement.context, block.context, block.context_exposed, core);
    add(placement.experts, block.experts, block.experts_exposed, block.gemm + block.attention);
    double const exposed = (block.tensor_exposed + block.context_exposed + block.experts_exposed).base();
    use.forward_share = exposed > 0.0 ? block.shown_forward.base() / exposed : 1.0 / 3.0;
    return use;
}

namespace {

/// Computation and traffic of a step that data-parallel traffic meets, as numbers of the plan.
struct DataPasses {
    double layers, drained, stretch; ///< blocks; stages that end before the first; block time over that of its kernels
    double forward, backward;        ///< seconds of a pass of the stage
    double chunks, reductions, gathers, updates;
    bool few, turns, fully_exposed, hides, in_rows, one_by_one;
    AdapterUse adapter;
    HostIdle idle;
    Units units;
    ShardedSeconds sharded;
    BesideBlocks beside;
};

template <class N> DataPasses data_passes(Frame<N> const& f) {
    auto const& block = f.costs.block;
    auto const& last = f.costs.trained;
    auto const& framework = f.setting.framework;
    auto const [total, one_forward] = f.block_times;
    Seconds const kernels = block.gemm + block.attention + block.memory;
    bool const piped = f.strategy.pp > 1, few = f.costs.frozen_blocks > 0 && piped; // few: trained ones end the step
    double const layers = f.stage.layers, chunks = piped ? pipeline_shape(f.strategy, f.setting.workload).chunks : 1;
    bool const fully_exposed = f.strategy.overlap == Overlap::off;
    bool const hides = !fully_exposed && framework.gradient_overlap == GradientOverlap::hidden;
    bool const in_rows = f.traffic_in_rows >= 0.0;
    DataPasses p{
        .layers = layers,
        .drained = few ? f.strategy.pp - 1.0 - f.holding_stage : f.strategy.pp - 1.0,
        .stretch = kernels.base() > 0.0 ? total / kernels : 0.0, // gaps, host and exposed traffic
        .forward = few ? f.costs.frozen.total().base() * f.holding.frozen_blocks +
                             last.forward().base() * f.holding.trained_blocks
                       : one_forward.base() * layers,
        .backward = few ? (last.total() - last.forward()).base() * f.holding.trained_blocks + f.through_early
                        : (total - one_forward).base() * layers,
        .chunks = chunks,
        .reductions = reductions_per_step(f.strategy, framework, f.micro_batch_count),
        .gathers = gathers_per_pass(f.strategy, framework),
        .updates = updates_per_step(f.strategy, f.micro_batch_count), // each gathers weights that it sharded
        .few = few,
        .turns = f.strategy.schedule() == PipelineSchedule::interleaved && piped,
        .fully_exposed = fully_exposed,
        .hides = hides,
        .in_rows = in_rows,
        .one_by_one = hides && !in_rows && f.costs.frozen_blocks == 0 && f.strategy.zero < 3 && chunks == 1.0 &&
                      (!piped || drains_in_turn(f.strategy)),
        .adapter = adapter_use(f.placement, block),
        .idle = host_idle(f.setting, f.strategy, block, f.block_times),
        .units = units_of(f),
        .sharded = {},
        .beside = {},
    };
    p.sharded = sharded_seconds(f, p.reductions, p.gathers);
    if (p.one_by_one) { p.beside = beside_blocks(f, p.units, p.idle, p.reductions); }
    return p;
}

template <class N> Exposure<N> exposure_of(Frame<N> const& f, DataPasses const& p) {
    auto const& [adapter, beside, last] = std::tie(p.adapter, p.beside, f.costs.trained);
    double const blocks = std::max(1.0, trained_blocks(f)); // of which gradients are sent, one after the other
    double const first_bucket =
        blocks_of_first_bucket(unit_times(f, p.units.block).elements, blocks) * p.backward / blocks;
    bool const whole = p.chunks == 1.0; // each stage is one part of the model
    bool const in_pace = f.costs.frozen_blocks == 0 && f.strategy.compression.kind == Compression::none;
    double const unsent = !in_pace ? 0.0 : p.one_by_one ? beside.unsent : (whole ? first_bucket * p.updates : 0.0);
    double const later = 1.0 - adapter.forward_share;
    double const windows = later * std::max(0.0, p.reductions - (p.backward > 0.0 ? unsent / p.backward : 0.0)) +
                           (f.strategy.zero == 2 ? adapter.forward_share * (p.reductions - 1.0) : 0.0);
    double const of_others = adapter.all * p.layers * windows; // but before the first bucket
    double const before_last = whole ? (std::max(1.0, p.layers) - 1.0) / std::max(1.0, p.layers) : 1.0;
    return {
        .reduce = f.in("reduce_seconds", f.traffic.reduce().base()),
        .gather = f.in("gather_seconds", f.traffic.gather().base() * p.updates),
        .backward_window = f.in("backward_window_seconds", p.backward + f.accumulation),
        .forward_window = f.in("forward_window_seconds", p.forward * p.updates),
        .compute_window = f.micro_batches * f.layers * f.block,
        .passes = f.in("sharded_passes_per_step", p.reductions),
        .gathers = f.in("gathers_per_pass", p.gathers),
        .reductions = f.in("reductions_per_step", p.reductions),
        // gradients that are reduced after every micro-batch have the p.forward passes between to hide behind
        .window_between = f.in("window_between_seconds", f.strategy.zero == 2 ? (p.reductions - 1.0) * p.forward : 0.0),
        .first_block = f.in("first_block_share", first_block_share(f, p.units)),
        .last_bucket = f.in("last_bucket_share", last_bucket_share(f, p.units)),
        .updates = runs_without_flush(f.strategy) ? f.in("updates_per_step", p.updates) : literal<N>(1.0),
        .adding_up = f.in("adding_up_seconds", f.accumulation),
        .kernels = f.in("kernel_share", p.stretch > 0.0 ? 1.0 / p.stretch : 0.0),
        .adapter_backward = f.in("adapter_in_use_backward",
                                 beside.collectives_backward * share_of(adapter.shown * later * p.layers, p.backward)),
        .adapter_forward =
            f.in("adapter_in_use_forward",
                 beside.collectives_forward * share_of(adapter.shown * adapter.forward_share * p.layers, p.forward)),
        .adapter_forward_all = f.in("adapter_of_others_forward_seconds",
                                    whole ? adapter.all * p.layers * adapter.forward_share * p.updates : 0.0),
        .adapter_backward_all = f.in("adapter_of_others_seconds", whole ? of_others : 0.0),
        .unsent = f.in("until_first_bucket_seconds", unsent),
        .before_last = f.in("before_last_block_share", before_last),
        .adapter_hop = f.in("adapter_hop_seconds", adapter_hop(f)),
        .lost_backward = f.in("lost_beside_gradients_seconds", beside.backward),
        .lost_drained = f.in("lost_in_a_last_pass_seconds", beside.drained),
        .last_buckets = f.in("last_buckets_seconds", beside.last),
        .lost_gathering = f.in("lost_gathering_seconds", beside.gathering * p.updates),
        .sharded = f.in("sharded_seconds", p.sharded.all),
        .drained = f.in("stages_drained", drains_in_turn(f.strategy) ? p.drained : 0.0),
        .old_share = f.in("gradients_exposed_old", Constant::gradients_exposed_old),
        .loss = f.in("gradients_exposed", Constant::gradients_exposed),
        .shard_loss = f.in("shard_overlap_loss", Constant::shard_overlap_loss),
        .idle_backward =
            f.in("host_idle_backward",
                 p.few ? idle_share(last.backward_pass(), last.total() - last.forward()) : p.idle.backward),
        .idle_forward = f.in("host_idle_forward", p.idle.forward),
    };
}

} // namespace

template <class N> void compose_data(Frame<N>& f, Parts<N>& parts) {
    DataPasses const p = data_passes(f);
    auto const exposure = exposure_of(f, p);
    bool const in_rounds = !p.in_rows && p.turns && p.hides && f.strategy.zero < 2;
    AddedInTurn added;
    if (in_rounds) {
        auto const all = chunks_in_turn(f, exposure, p.adapter, p.forward, p.backward, p.units);
        auto const gathered = added_by_gathers(all), reduced = added_by_reductions(all);
        added = {.shown = gathered.shown + reduced.shown, .waited = gathered.waited + reduced.waited};
    } else if (p.in_rows) {
        added.shown = f.traffic_in_rows;
    }
    // a stage shows no more than it sends: the rest it waits for others, which theirs slows
    double const own = std::min(added.shown, value_of(exposure.reductions * exposure.reduce + exposure.gather));
    N exposed = p.in_rows || in_rounds ? f.in("traffic_in_turn_seconds", own)
                                       : exposed_data(exposure, f.strategy, f.setting.framework.gradient_overlap,
                                                      p.fully_exposed, p.one_by_one);
    // servers and few trained blocks queue for an adapter with next to nothing: beyond it the queue is others'
    if (f.traffic.blocking.base() > 0.0 || f.costs.frozen_blocks > 0) {
        N const sent = f.strategy.zero == 3 ? exposure.passes * (exposure.gathers * exposure.gather + exposure.reduce)
                                            : exposure.reductions * exposure.reduce + exposure.gather;
        exposed = smaller(exposed, sent);
    }
    f.after_kernels =
        std::min(value_of(exposed), after_kernels(f, exposure, p.fully_exposed, p.one_by_one ? &p.beside : nullptr));
    if (f.strategy.zero == 3) { f.late_beside = late_beside(f, p.sharded, exposure, value_of(exposed), !p.hides); }
    bool const drains = p.hides && f.strategy.zero < 2 && drains_in_turn(f.strategy);
    bool const behind =
        !p.hides && f.strategy.zero < 2 && drains_in_turn(f.strategy) && value_of(exposure.adapter_hop) > 0.0;
    if (f.strategy.pp > 1) {
        N const later = in_rounds || p.in_rows ? f.in("stages_slowed_seconds", added.shown - own + added.waited)
                        : drains               ? slowed_drain(exposure, p.one_by_one)
                        : behind               ? meets_last_transfers(exposure, p.fully_exposed)
                                               : literal<N>(0.0);
        bool const slowed = in_rounds || p.in_rows || drains || behind;
        parts.bubble = f.record.term("pipeline_bubble_seconds", "s", slowed ? parts.bubble + later : parts.bubble);
    }
    bool const blocking = f.traffic.blocking.base() > 0.0;
    bool const runs_on = runs_without_flush(f.strategy);
    auto const style = f.setting.framework.gradient_overlap;
    if (runs_on) { f.slowed_passes = slowed_passes(exposure, f.strategy, style); }
    bool const meets = runs_on && !p.fully_exposed && f.strategy.pp > 1;
    if (meets) { exposed = f.record.term("met_data_seconds", "s", exposed + meets_transfers(exposure, style)); }
    parts.data =
        f.record.term("data_seconds", "s",
                      blocking ? exposed + f.in("blocking_seconds", f.traffic.blocking.base() * p.updates) : exposed);
}

template void compose_data(Frame<double>& f, Parts<double>& parts);
template void compose_data(Frame<Traced>& f, Parts<Traced>& parts);

} // namespace headroom::training
