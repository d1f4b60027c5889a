#include "headroom/step.hpp"

#include "pipeline_time.hpp"
#include "stage.hpp"
#include "traced.hpp"
#include "traffic.hpp"

#include "headroom/compression.hpp"
#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace headroom {
namespace {

/// Seconds of each part of a step; the fields of `StepTime`.
template <class N> struct Parts {
    N compute, host, tensor, context, experts, pipeline, data, bubble, optimizer, offload, imbalance, stragglers,
        overhead;
};

/// What data-parallel traffic takes, how often it comes, and the computation that it can run behind.
template <class N> struct Exposure {
    N reduce, gather, backward_window, forward_window, compute_window, passes, gathers, reductions;
    N early;        ///< share of the gradients that is on its way before the last pass
    N early_window; ///< computation between that and the last pass
    N last_bucket; ///< share of the traffic that waits for the end of the backward pass, or that the first block waits for
    N adding_up; ///< computation that follows the last backward pass, with nothing to wait for
    N kernels;   ///< share of the computation that is kernels: the rest is no slower beside traffic
    N adapter_backward, adapter_forward; ///< share of the windows in which other traffic has the adapter, and shows
    N adapter_hop; ///< a transfer to the stage before that has the adapter in common with gradients
    N sharded;     ///< ZeRO 3: what a step shows of gathers and reductions, visit by visit
    N drained;     ///< stages whose last backward pass is over before, one after the other
    N old_share, loss, shard_loss;
};

/// What kernels lose to traffic beside them: l of their rate while it lasts. They are a share k of their window W.
///
///     k min(l T, l / (1 - l) W)
template <class N> N slowed(Exposure<N> const& e, N const& traffic, N const& window, N const& loss) {
    return e.kernels * smaller(loss * traffic, loss / (literal<N>(1.0) - loss) * window);
}

/// The part of data-parallel time that shows: what does not fit its window or slows the kernels that it runs behind,
/// whichever is more.
///
///     ZeRO 0 to 2   max(s_b + [u R - a]+, R - W_b) + max(s_f + u G, G - W_f),   W_b = r (one backward window)
///                   + x_b min(R, W_b) + x_f min(G, W_f)
///     ZeRO 3        block by block: `sharded_seconds`
///
/// x is the share of a window in which other traffic leaves by the same adapter and shows: both then take twice as long.
/// s = k min(l T, l / (1 - l) W) is what kernels lose to traffic T beside them; u the share of the traffic that has nothing
/// to run behind, for it waits for the last block or the first block waits for it; a what
/// adding gradients up takes, which is behind the last block.
/// Stacks that reduce after the backward pass show a fixed share of all of it; without overlap all of it shows.
/// Source:     [Li2020], [Zhao2023]
template <class N>
N exposed_data(Exposure<N> const& e, Strategy const& strategy, GradientOverlap style, bool fully_exposed) {
    if (fully_exposed) {
        return strategy.zero == 3 ? e.passes * (e.gathers * e.gather + e.reduce) : e.reductions * e.reduce + e.gather;
    }
    if (strategy.zero == 3) {
        N traffic = e.passes * (e.gathers * e.gather + e.reduce);
        return style == GradientOverlap::exposed ? traffic : e.sharded;
    }
    N const reduce = e.reductions * e.reduce;
    if (style == GradientOverlap::exposed) { return e.old_share * (reduce + e.gather); }
    N const window = e.reductions * e.backward_window;
    N const before = e.early * reduce, last = reduce - before;
    N const beside = literal<N>(1.0) - e.last_bucket; // what has something to run behind
    N const tail = larger(smaller(e.last_bucket * e.reduce, last) - e.adding_up, literal<N>(0.0));
    N const slow = slowed(e, larger(last - tail, literal<N>(0.0)), window, e.loss);
    N const slow_before = slowed(e, before, e.early_window, e.loss);
    N const behind_backward = larger(slow + slow_before + tail, reduce - window - e.early_window);
    N const behind_forward = larger(slowed(e, beside * e.gather, e.forward_window, e.loss) + e.last_bucket * e.gather,
                                    e.gather - e.forward_window);
    N const beside_others = e.adapter_backward * smaller(larger(reduce - tail, literal<N>(0.0)), window) +
                            e.adapter_forward * smaller(beside * e.gather, e.forward_window);
    return behind_backward + behind_forward + beside_others;
}

/// What the stages of a pipeline that drain before the first add to its wait: the last pass of each is slowed by the
/// reduction of its own gradients, and what it hands on has the adapter in common with the rest of it; the next stage
/// waits for it.
template <class N> N slowed_drain(Exposure<N> const& e) {
    N const tail = larger(e.last_bucket * e.reduce - e.adding_up, literal<N>(0.0));
    N const last = larger((literal<N>(1.0) - e.early) * e.reductions * e.reduce - tail, literal<N>(0.0));
    N const window = e.reductions * e.backward_window;
    N const after = larger(tail, larger(e.reductions * e.reduce - window, literal<N>(0.0)));
    return e.drained * (slowed(e, last, window, e.loss) + e.adapter_backward * smaller(last, window) +
                        smaller(e.adapter_hop, after));
}

/// Times of a mean block that several parts read.
struct BlockTimes {
    Seconds total, forward, excess;
};

/// What every part of the closed form reads.
template <class N> struct Frame {
    StepSetting const& setting;
    Strategy const& strategy;
    LayerCosts const& costs;
    Fabric fabric;
    DataTraffic traffic;
    SlowestStage stage;
    double micro_batch_count;
    Recorder<N>& record;
    N micro_batches, layers;
    BlockTimes block_times;
    Placement placement;
    Seconds hop;                                          ///< of one transfer between stages
    double accumulation = 0.0;                            ///< seconds that adding one micro-batch's gradients up takes
    N block, ends, ends_tensor, ends_experts, ends_ahead; ///< filled by `compose_stage`

    /// What blocks beside the head add, where there are any.
    N with_ahead(N const& rest, N const& ahead) const {
        return setting.model.prediction_layers > 0 ? rest + ahead : rest;
    }
    N in(char const* name, double value) const { return record.input(name, value); }
    N in(char const* name, Constant constant) const { return record.input(name, setting.constants[constant]); }
};

/// Parameters of a rank of which a part of the training state is kept, and is trained.
template <class N> double kept_of(Frame<N> const& f, double Shards::*part) {
    auto const trained = trained_parts(f.strategy, f.setting.model, f.setting.count);
    return trained.dense * f.traffic.dense.parameters_held / shards_of(f.strategy).*part +
           trained.experts * f.traffic.experts.parameters_held / expert_shards_of(f.strategy).*part;
}

/// Two directions hold two parts of the model, and a micro-batch passes one of them.
bool has_two_directions(Strategy const& strategy) {
    return strategy.pp > 1 && schedule_row(strategy.schedule()).layout == ChunkLayout::bidirectional;
}

/// Parameters whose gradients are added up after every micro-batch. With ZeRO 2 a pass still writes whole gradients and
/// reads them to send them.
template <class N> double accumulated_parameters(Frame<N> const& f) {
    double const parts = has_two_directions(f.strategy) ? 2.0 : 1.0;
    return kept_of(f, f.strategy.zero == 2 ? &Shards::weights : &Shards::gradients) / parts;
}

BytesPerSecond sustained_memory(StepSetting const& setting) {
    return setting.cluster.accelerator.memory_bandwidth * setting.constants[Constant::memory_fraction];
}

/// What adding one micro-batch's gradients up takes: a part of the backward pass.
template <class N> double accumulation_seconds(Frame<N> const& f) { return f.accumulation; }

template <class N> double priced_accumulation(Frame<N> const& f) {
    return f.setting.constants[Constant::accumulate_bytes] * accumulated_parameters(f) /
           sustained_memory(f.setting).base();
}

/// Every place as it is, for rows to be run; none where they are too long.
template <class N> std::vector<StageTimes> places_of(Frame<N> const& f, PipelineWork const& work) {
    PipelineShape const shape = pipeline_shape(f.strategy, f.setting.workload);
    double const passes = 3.0 * shape.stages * shape.chunks * shape.micro_batches;
    if (passes > most_passes_run) { return {}; }
    auto const block = passes_of(f.costs.block, f.stage.block_time.base());
    auto const head = passes_of(f.costs.head, f.stage.head_time.base());
    auto const ends = passes_of(f.costs.embedding, f.stage.embedding_time.base());
    auto const blocks = blocks_of_parts(depth_of(f.setting.model), shape, work.schedule.layout);
    std::vector<std::size_t> first(blocks.size() + 1, 0);
    for (std::size_t part = 0; part < blocks.size(); ++part) {
        first[part + 1] = first[part] + static_cast<std::size_t>(blocks[part]);
    }
    auto const work_of = [&](std::size_t part) { return f.costs.blocks_between(first[part], first[part + 1]); };
    double const accumulate = accumulation_seconds(f) / (has_two_directions(f.strategy) ? 1.0 : shape.chunks);
    std::vector<StageTimes> places;
    for (int stage = 0; stage < shape.stages; ++stage) {
        for (int chunk = 0; chunk < shape.chunks; ++chunk) {
            auto const part = static_cast<std::size_t>(part_of(shape, work.schedule.layout, {stage, chunk}));
            StageTimes place{.forward = 0.0, .input = 0.0, .weight = accumulate};
            for (double StageTimes::*pass : {&StageTimes::forward, &StageTimes::input, &StageTimes::weight}) {
                place.*pass += work_of(part) * block.*pass + (part == 0 ? ends.*pass : 0.0) +
                               (part + 1 == blocks.size() ? head.*pass : 0.0);
            }
            places.push_back(place);
        }
    }
    return places;
}

/// The slowest stage and the mean of the others, by pass.
template <class N> PipelineWork pipeline_work(Frame<N> const& f) {
    int const depth = depth_of(f.setting.model), stages = f.strategy.pp;
    PipelineWork work{.schedule = schedule_row(f.strategy.schedule()),
                      .stages = stages,
                      .chunks = pipeline_shape(f.strategy, f.setting.workload).chunks,
                      .micro_batches = f.micro_batch_count,
                      .slowest = {},
                      .others = {}};
    auto const id = work.schedule.id; // these wait and transfer as long whatever the passes are
    if (id == PipelineSchedule::one_f_one_b || id == PipelineSchedule::gpipe) { return work; }
    auto const block = passes_of(f.costs.block, f.stage.block_time.base());
    auto const head = passes_of(f.costs.head, f.stage.head_time.base());
    auto const ends = passes_of(f.costs.embedding, f.stage.embedding_time.base());
    for (double StageTimes::*pass : {&StageTimes::forward, &StageTimes::input, &StageTimes::weight}) {
        work.slowest.*pass = f.stage.layers * block.*pass + f.stage.head * head.*pass + f.stage.embedding * ends.*pass;
        double const all = depth * block.*pass + head.*pass + ends.*pass;
        work.others.*pass = std::max(0.0, all - work.slowest.*pass) / (stages - 1.0);
    }
    work.slowest.weight += accumulation_seconds(f);
    work.others.weight += accumulation_seconds(f);
    if (id != PipelineSchedule::interleaved && !work.schedule.asynchronous) { work.places = places_of(f, work); }
    return work;
}

/// What the slowest stage waits for in a step of 1F1B, for other stages and for transfers.
struct Waits {
    double bubble = 0.0, transfers = 0.0;
};

/// Of stages as they are, with adding gradients up as a part of their backward passes.
template <class N> Waits one_f_one_b_waits(Frame<N> const& f, double hop) {
    StageGroups all = f.stage.stages;
    auto const stages = all.groups();
    double slowest = 0.0;
    for (EqualStages& group : stages) {
        group.time += accumulation_seconds(f);
        slowest = std::max(slowest, group.time);
    }
    Seconds const first_pass = f.stage.layers * f.block_times.forward + f.stage.head * f.costs.head.forward() +
                               f.stage.embedding * f.costs.embedding.forward();
    double const forward = slowest > 0.0 ? first_pass.base() / slowest : 0.5;
    auto const length = [&](double transfer) {
        auto const at = [&](double m) {
            return one_f_one_b_length(stages, std::min(forward, 1.0), static_cast<int>(m), transfer,
                                      f.strategy.overlap == Overlap::off);
        };
        double const whole = std::floor(f.micro_batch_count), rest = f.micro_batch_count - whole;
        return rest > 0.0 ? at(whole) + rest * (at(whole + 1.0) - at(whole)) : at(whole);
    };
    double const without = length(0.0);
    return {.bubble = std::max(0.0, without - f.micro_batch_count * slowest),
            .transfers = std::max(0.0, length(hop) - without)};
}

/// The slowest stage works m times; filling and draining costs the other stages once, over v when each holds v chunks
/// that take turns; other schedules wait as their rows of the table say. Transfers show while the pipeline fills and
/// drains, and in between where the slowest stage has no time to wait for them: faster ones have (slowest - mean) a
/// micro-batch.
/// Source: [Narayanan2021], [Qi2024], [Qi2024b], [DualPipe]
template <class N> void compose_pipeline(Frame<N>& f, N const& both_ends, Parts<N>& parts) {
    auto const work = pipeline_work(f);
    N const slowest =
        f.record.term("slowest_stage_seconds", "s",
                      f.with_ahead(f.layers * f.block + f.ends + f.ends_tensor + f.ends_experts, f.ends_ahead));
    N const all =
        f.record.term("all_stages_seconds", "s", f.in("layers", depth_of(f.setting.model)) * f.block + both_ends);
    N const others_accumulate = f.in("others_accumulate_seconds", (f.strategy.pp - 1.0) * accumulation_seconds(f));
    bool const in_turn = !work.schedule.splits_backward && !work.schedule.asynchronous &&
                         work.schedule.layout == ChunkLayout::loop; // 1F1B, interleaved, GPipe
    double const seconds = f.hop.base();
    if (work.schedule.id == PipelineSchedule::one_f_one_b) {
        auto const waits = one_f_one_b_waits(f, seconds);
        parts.bubble = f.in("schedule_wait_seconds", waits.bubble);
        parts.pipeline = f.record.term("pipeline_seconds", "s", f.in("transfer_wait_seconds", waits.transfers));
        return;
    }
    parts.bubble = f.record.term("stages_wait_seconds", "s",
                                 in_turn ? (all - slowest + others_accumulate) / f.in("chunks_per_stage", work.chunks)
                                         : f.in("schedule_wait_seconds", pipeline_bubble_seconds(work)));
    auto const hops = pipeline_hops(work, seconds, f.strategy.overlap == Overlap::off);
    N const hop = f.in("hop_seconds", seconds);
    N const spare = f.in("micro_batches_that_spare", hops.spare) * (slowest - all / f.in("stages", f.strategy.pp));
    parts.pipeline = f.record.term("pipeline_seconds", "s",
                                   f.in("hops_that_fill_and_drain", hops.filling) * hop +
                                       larger(f.in("hops_in_between", hops.steady) * hop - spare, literal<N>(0.0)));
}

/// What the host adds to a block. Where it does not read from the chip (routing, a pipeline's transfers) it gets ahead
/// while the chip works on the ends of the model x, adds gradients up or waits for nothing it has to issue:
///
///     smooth maximum - max(chip, host) + [host - chip - x/n]+
template <class N> Seconds host_of_block(Frame<N> const& f) {
    auto const& block = f.costs.block;
    Seconds const excess = f.block_times.excess, chip = f.block_times.total - excess;
    if (f.strategy.pp > 1 || f.setting.model.moe.experts > 0 || block.host <= chip) { return excess; }
    Seconds const beside = f.costs.embedding.total() + f.costs.head.total() + Seconds{accumulation_seconds(f)};
    return std::max(excess - (block.host - chip), excess - beside / f.stage.layers);
}

/// Kernels, host, tensor and context parts of the slowest stage, over all its micro-batches.
template <class N> void compose_stage(Frame<N>& f, Parts<N>& parts) {
    auto const kernels_of = [](LayerCost const& c) { return (c.gemm + c.attention + c.memory + c.kernels).base(); };
    N const kernels = f.in("block_kernel_seconds", kernels_of(f.costs.block));
    N const host = f.in("block_host_excess_seconds", host_of_block(f).base());
    N const tensor = f.in("block_tensor_exposed_seconds", f.costs.block.tensor_exposed.base());
    N const context = f.in("block_context_exposed_seconds", f.costs.block.context_exposed.base());
    N const experts = f.in("block_experts_exposed_seconds", f.costs.block.experts_exposed.base());
    N const head_experts = f.in("head_experts_exposed_seconds", f.costs.head.experts_exposed.base());
    N const head = f.in("head_seconds", kernels_of(f.costs.head));
    N const embedding = f.in("embedding_seconds", kernels_of(f.costs.embedding));
    N const head_tensor = f.in("head_tensor_exposed_seconds", f.costs.head.tensor_exposed.base());
    N const embedding_tensor = f.in("embedding_tensor_exposed_seconds", f.costs.embedding.tensor_exposed.base());
    // the output projection is on the last stage (a V ends on the first), the embedding on the first
    auto const end_of = [&](N const& at_last, N const& at_first) {
        if (f.stage.head == f.stage.embedding) { // one stage, one in the middle, or both directions
            return f.stage.head == 1.0   ? at_last + at_first
                   : f.stage.head == 0.0 ? literal<N>(0.0)
                                         : f.stage.head * (at_last + at_first);
        }
        return f.stage.head > 0.0 ? at_last : at_first;
    };
    f.ends = f.record.term("ends_seconds", "s", end_of(head, embedding));
    f.ends_tensor = f.record.term("ends_tensor_seconds", "s", end_of(head_tensor, embedding_tensor));
    f.ends_experts = f.record.term("ends_experts_seconds", "s", end_of(head_experts, literal<N>(0.0)));
    N ends_context = literal<N>(0.0), ends_host = literal<N>(0.0), head_ahead = literal<N>(0.0);
    if (f.setting.model.prediction_layers >
        0) { // blocks beside the head exchange keys and wait for the host as others do
        N const head_context = f.in("head_context_exposed_seconds", f.costs.head.context_exposed.base());
        N const head_host = f.in("head_host_excess_seconds", f.costs.head.host_excess().base());
        ends_context = end_of(head_context, literal<N>(0.0));
        ends_host = end_of(head_host, literal<N>(0.0));
        head_ahead = head_context + head_host;
    }
    f.ends_ahead = ends_context + ends_host;
    f.block = f.record.term("block_seconds", "s", kernels + host + tensor + context + experts);
    parts.compute = f.record.term("compute_seconds", "s", f.micro_batches * (f.layers * kernels + f.ends));
    parts.host = f.record.term("host_seconds", "s",
                               f.with_ahead(f.micro_batches * f.layers * host, f.micro_batches * ends_host));
    parts.tensor = f.record.term("tensor_seconds", "s", f.micro_batches * (f.layers * tensor + f.ends_tensor));
    parts.context = f.record.term("context_seconds", "s",
                                  f.with_ahead(f.micro_batches * f.layers * context, f.micro_batches * ends_context));
    parts.experts = f.record.term("expert_seconds", "s", f.micro_batches * (f.layers * experts + f.ends_experts));
    parts.bubble = parts.pipeline = literal<N>(0.0);
    if (f.strategy.pp > 1) {
        compose_pipeline(f, f.with_ahead(head + embedding + head_tensor + embedding_tensor + head_experts, head_ahead),
                         parts);
    }
}

/// Gradients of one reduction. Source: [MegatronLM]
constexpr double bucket_elements = 40e6;

/// Share of a stage's gradients that are made last of all: the last bucket, and the table of the embedding.
template <class N> double last_bucket_share(Frame<N> const& f) {
    double const held = f.traffic.dense.parameters_held + f.traffic.experts.parameters_held;
    if (held <= 0.0) { return 0.0; }
    double const blocks = stage_parameters(f.setting, f.strategy, StageShare{.blocks = f.stage.layers}).all();
    double const table = stage_parameters(f.setting, f.strategy, StageShare{.first = true}).all();
    return std::min(1.0, (table + std::min(bucket_elements, blocks)) / held);
}

/// Whether the last backward passes of the stages follow one another, gradients of weights in them.
template <class N> bool drains_in_turn(Frame<N> const& f) {
    auto const& row = schedule_row(f.strategy.schedule());
    return f.strategy.pp > 1 && !row.splits_backward && !row.asynchronous && row.layout == ChunkLayout::loop;
}

/// Exposed and hidden traffic beside gradients and weights that leaves by their adapter, of a block, and the part of what
/// shows that stands in its forward pass.
struct AdapterUse {
    double shown = 0.0, hidden = 0.0, forward_share = 0.0;
};

AdapterUse adapter_use(Placement const& placement, LayerCost const& block) {
    AdapterUse use;
    if (placement.data.domains() == 1) { return use; }
    auto const add = [&use](Group const& group, Seconds all, Seconds exposed) {
        if (group.domains() == 1) { return; }
        use.shown += exposed.base();
        use.hidden += std::max(0.0, (all - exposed).base());
    };
    add(placement.tensor, block.tensor, block.tensor_exposed);
    add(placement.context, block.context, block.context_exposed);
    add(placement.experts, block.experts, block.experts_exposed);
    double const exposed = (block.tensor_exposed + block.context_exposed + block.experts_exposed).base();
    use.forward_share = exposed > 0.0 ? block.shown_forward.base() / exposed : 0.0;
    return use;
}

/// A transfer between stages that leaves by the adapter of the gradients.
template <class N> double adapter_hop(Frame<N> const& f) {
    if (f.strategy.pp == 1) { return 0.0; }
    bool const shared = f.placement.pipeline_leaves_domain && f.placement.data.domains() > 1;
    return shared ? f.hop.base() : 0.0;
}

/// Computation of one pass of a unit, and what of it is kernels and leaving traffic.
struct VisitWork {
    double seconds = 0.0, kernels = 1.0, shown = 0.0, hidden = 0.0; ///< the last three are shares
};

/// What gathering and reducing of so many seconds adds to one visit beside it.
///
///     max(d + h c, c + k min(l d, l c / (1 - l))) - c + x min(d, c)
double added_to_visit(VisitWork const& work, double data, double loss) {
    double const c = work.seconds;
    double const slowed = c + work.kernels * std::min(loss * data, loss / (1.0 - loss) * c);
    return std::max(data + work.hidden * c, slowed) - c + work.shown * std::min(data, c);
}

/// Gathers and reductions of the parts of a stage: its embedding, one block, its head.
struct UnitTimes {
    double gather = 0.0, reduce = 0.0;
};

template <class N> UnitTimes unit_times(Frame<N> const& f, StageShare const& share) {
    auto const unit = stage_parameters(f.setting, f.strategy, share);
    auto const part = [](double of, double all) { return all > 0.0 ? of / all : 0.0; };
    double const dense = part(unit.dense, f.traffic.dense.parameters_held);
    double const experts = part(unit.experts, f.traffic.experts.parameters_held);
    auto const& [d, e] = std::pair{f.traffic.dense, f.traffic.experts};
    return {.gather = d.gather.base() * dense + e.gather.base() * experts,
            .reduce = (d.reduce + d.replicate).base() * dense + (e.reduce + e.replicate).base() * experts};
}

/// ZeRO 3: what gathers and reductions add to a step. While a block works the weights of the next are gathered, in the
/// backward pass after the gradients of the one before have been reduced; the first gathering and the last reduction have
/// nothing to run behind.
///
///     forward   embedding | block 2,  block | next block,  last block | head,  head | itself, for the backward pass
///     backward  head | block,  block | gradients of the one before + next block,  first block | ... + embedding
///
/// Source:     [Zhao2023]
template <class N> double sharded_seconds(Frame<N> const& f, double passes, double gathers) {
    if (f.strategy.zero != 3) { return 0.0; }
    double const loss = f.setting.constants[Constant::shard_overlap_loss], again = gathers - 1.0, n = f.stage.layers;
    auto const work_of = [](LayerCost const& cost, double seconds) {
        double const kernels = (cost.gemm + cost.attention + cost.memory + cost.kernels).base(),
                     all = cost.total().base();
        return VisitWork{.seconds = seconds, .kernels = all > 0.0 ? kernels / all : 0.0};
    };
    auto const& [embedding, block, head] = std::tie(f.costs.embedding, f.costs.block, f.costs.head);
    auto const both = [&](LayerCost const& cost) {
        double const forward = cost.forward().base();
        return std::pair{work_of(cost, forward), work_of(cost, cost.total().base() - forward)};
    };
    auto const [e_f, e_b] = both(embedding);
    auto const [h_f, h_b] = both(head);
    auto [b_f, b_b] = both(block);
    auto const use = adapter_use(f.placement, block);
    auto const shares = [&](VisitWork& work, double part) {
        if (work.seconds <= 0.0) { return; }
        work.shown = std::min(1.0, use.shown * part / work.seconds);
        work.hidden = std::min(1.0, use.hidden * part / work.seconds);
    };
    shares(b_f, use.forward_share), shares(b_b, 1.0 - use.forward_share);
    auto const table = unit_times(f, {.first = true}), one = unit_times(f, {.blocks = 1.0});
    auto top = unit_times(f, {.first = true, .last = true}); // of a tied table a part is with the embedding
    top.gather -= table.gather, top.reduce -= table.reduce;
    double const forward = added_to_visit(e_f, one.gather, loss) + (n - 1.0) * added_to_visit(b_f, one.gather, loss) +
                           added_to_visit(b_f, top.gather, loss) + added_to_visit(h_f, again * top.gather, loss);
    double const of_blocks = n < 2.0 ? added_to_visit(b_b, top.reduce + again * table.gather, loss)
                                     : added_to_visit(b_b, top.reduce + again * one.gather, loss) +
                                           (n - 2.0) * added_to_visit(b_b, one.reduce + again * one.gather, loss) +
                                           added_to_visit(b_b, one.reduce + again * table.gather, loss);
    double const backward = added_to_visit(h_b, again * one.gather, loss) + of_blocks;
    double const between = added_to_visit(e_b, one.reduce + table.gather, loss);
    return passes * (forward + backward) + (passes - 1.0) * (between + table.reduce) + table.gather + one.reduce +
           table.reduce;
}

/// Gradient reduction and weight gathering beyond what hides behind computation.
template <class N> void compose_data(Frame<N>& f, Parts<N>& parts) {
    auto const& block = f.costs.block;
    double const layers = f.stage.layers;
    Seconds const kernels = block.gemm + block.attention + block.memory;
    auto const [total, one_forward, excess] = f.block_times;
    double const stretch = kernels.base() > 0.0 ? total / kernels : 0.0; // gaps, host and exposed traffic
    double const backward = (total - one_forward).base() * layers;
    double const forward = one_forward.base() * layers;
    // the last micro-batch hides traffic; of several chunks those before the last one's hide behind p micro-batches each
    double const chunks = f.strategy.pp > 1 ? pipeline_shape(f.strategy, f.setting.workload).chunks : 1;
    bool const turns = f.strategy.schedule() == PipelineSchedule::interleaved && f.strategy.pp > 1;
    double const early = turns ? (chunks - 1.0) / chunks : 0.0;
    double const reductions = reductions_per_step(f.strategy, f.setting.framework, f.micro_batch_count);
    double const gathers = gathers_per_pass(f.strategy, f.setting.framework);
    auto const adapter = adapter_use(f.placement, block);
    auto const share_of = [](double part, double window) { return window > 0.0 ? std::min(1.0, part / window) : 0.0; };
    double const updates = updates_per_step(f.strategy, f.micro_batch_count); // each gathers weights that it sharded
    Exposure<N> const exposure{
        .reduce = f.in("reduce_seconds", f.traffic.reduce().base()),
        .gather = f.in("gather_seconds", f.traffic.gather().base() * updates),
        .backward_window = f.in("backward_window_seconds", backward * (1.0 - early) + accumulation_seconds(f)),
        .forward_window = f.in("forward_window_seconds", forward * (1.0 - early) * updates),
        .compute_window = f.micro_batches * f.layers * f.block,
        .passes = f.in("sharded_passes_per_step", reductions),
        .gathers = f.in("gathers_per_pass", gathers),
        .reductions = f.in("reductions_per_step", reductions),
        .early = f.in("early_gradients", early),
        // gradients that are reduced after every micro-batch have the forward passes between to hide behind
        .early_window = f.in("early_window_seconds", backward * early * f.strategy.pp +
                                                         (f.strategy.zero == 2 ? (reductions - 1.0) * forward : 0.0)),
        .last_bucket = f.in("last_bucket_share", last_bucket_share(f)),
        .adding_up = f.in("adding_up_seconds", accumulation_seconds(f)),
        .kernels = f.in("kernel_share", stretch > 0.0 ? 1.0 / stretch : 0.0),
        .adapter_backward =
            f.in("adapter_in_use_backward", share_of(adapter.shown * (1.0 - adapter.forward_share) * layers, backward)),
        .adapter_forward =
            f.in("adapter_in_use_forward", share_of(adapter.shown * adapter.forward_share * layers, forward)),
        .adapter_hop = f.in("adapter_hop_seconds", adapter_hop(f)),
        .sharded = f.in("sharded_seconds", sharded_seconds(f, reductions, gathers)),
        .drained = f.in("stages_drained", drains_in_turn(f) ? f.strategy.pp - 1.0 : 0.0),
        .old_share = f.in("gradients_exposed_old", Constant::gradients_exposed_old),
        .loss = f.in("gradients_exposed", Constant::gradients_exposed),
        .shard_loss = f.in("shard_overlap_loss", Constant::shard_overlap_loss),
    };
    bool const fully_exposed = f.strategy.overlap == Overlap::off;
    N const exposed = exposed_data(exposure, f.strategy, f.setting.framework.gradient_overlap, fully_exposed);
    bool const hides = !fully_exposed && f.setting.framework.gradient_overlap == GradientOverlap::hidden;
    bool const drains = hides && f.strategy.zero < 2 && drains_in_turn(f);
    if (f.strategy.pp > 1) {
        parts.bubble = f.record.term("pipeline_bubble_seconds", "s",
                                     drains ? parts.bubble + slowed_drain(exposure) : parts.bubble);
    }
    bool const blocks = f.traffic.blocking.base() > 0.0;
    parts.data = f.record.term("data_seconds", "s",
                               blocks ? exposed + f.in("blocking_seconds", f.traffic.blocking.base()) : exposed);
}

/// Bytes that compressing and decompressing the gradients reads and writes.
template <class N> double compression_bytes(Frame<N> const& f) {
    if (f.strategy.compression.kind == Compression::none || f.strategy.data_ranks() == 1) { return 0.0; }
    Bytes const gradients = f.traffic.dense.gradients + f.traffic.experts.gradients; // of what is trained
    double const elements = gradients.base() / f.setting.framework.reduced_bytes;
    auto const sent = compressed_gradients(f.strategy.compression, elements, f.setting.framework.reduced_bytes,
                                           Ranks{f.strategy.data_ranks()});
    return sent.touched_per_parameter * elements;
}

/// Gradient accumulation every micro-batch and the update once, or as often (PipeDream): both are bound by memory. An
/// update on the host is not the accelerator's.
template <class N> void compose_optimizer(Frame<N>& f, Parts<N>& parts) {
    N const memory = f.in("memory_bytes_per_second", sustained_memory(f.setting).base());
    double const updates = updates_per_step(f.strategy, f.micro_batch_count);
    N const accumulate = f.in("accumulate_bytes", Constant::accumulate_bytes) *
                         f.in("accumulated_parameters", accumulated_parameters(f)) * f.micro_batches / memory;
    double const updated = offloads_optimizer(f.strategy.offload) ? 0.0 : kept_of(f, &Shards::optimizer) * updates;
    N const update =
        f.in("optimizer_traffic_bytes", Constant::optimizer_traffic) * f.in("updated_parameters", updated) / memory;
    N const compress = f.in("compression_bytes", compression_bytes(f)) / memory;
    bool const compresses = f.strategy.compression.kind != Compression::none;
    parts.optimizer =
        f.record.term("optimizer_seconds", "s", compresses ? accumulate + update + compress : accumulate + update);
}

/// Copies of a step to and from the host, seconds, and what they hide behind: a stage's passes of one micro-batch.
struct HostCopies {
    double up = 0.0, down = 0.0; ///< updated weights before the first forward pass, gradients in the last backward pass
    double kept = 0.0;           ///< activations of one micro-batch, one way
    double blocks = 1.0;
    double forward = 0.0, head = 0.0, backward = 0.0;

    /// Kept activations of the last block come back as soon as they have gone, with the head between.
    [[nodiscard]] double between(double window) const {
        return std::max(0.0, std::max(kept / blocks, kept - window) + kept / blocks - head);
    }
    [[nodiscard]] double after(double more, double window) const {
        return std::max(0.0, kept * (1.0 - 1.0 / blocks) + more - window);
    }
};

/// Blocks whose copies and computation stand for a stage's: its own, in a pipeline those of the mean stage. The slowest
/// would count its window for the others, too, which have less of it.
template <class N> double copied_blocks(Frame<N> const& f) {
    if (f.strategy.pp == 1) { return f.stage.layers; }
    double const models = schedule_row(f.strategy.schedule()).layout == ChunkLayout::bidirectional ? 2.0 : 1.0;
    return models * depth_of(f.setting.model) / f.strategy.pp;
}

/// What transfers to and from the host show: those of a pass hide behind its computation.
///
///     a micro-batch   [max(a/n, a - forward) + a/n - head]+ + [a (n - 1)/n - backward]+     a: kept, one way
///     the first       weights come up before: [up - forward]+, and activations have the rest of the pass
///     the last        gradients go down behind it
///
/// Weights and gradients hide behind what the network shows of theirs, too.
/// A pipeline fills and drains past p - 1 more micro-batches of a chunk; of its stages the mean one is told, without the
/// head, which one stage has. Without overlap all of it shows.
template <class N> double shown_copies(Frame<N> const& f, HostTraffic const& host, double data) {
    double const m = f.micro_batch_count, chunks = pipeline_shape(f.strategy, f.setting.workload).chunks;
    double const filling = (f.strategy.pp - 1.0) / chunks;
    double const optimizer = host.optimizer_transfer.base(), activations = host.activation_transfer.base();
    if (f.strategy.overlap == Overlap::off) { return optimizer + activations * (1.0 + filling / m); }
    auto const& block = f.costs.block;
    auto const& framework = f.setting.framework;
    double const down = framework.gradient_bytes / (framework.gradient_bytes + framework.parameter_bytes);
    bool const whole = f.strategy.pp == 1;
    double const blocks = copied_blocks(f);
    double const copied =
        whole ? 1.0 : blocks / stage_layers(depth_of(f.setting.model), f.strategy.pp, StagePlace::middle);
    HostCopies c{.up = optimizer * (1.0 - down),
                 .down = optimizer * down,
                 .kept = copied * activations / (2.0 * m),
                 .blocks = std::max(1.0, blocks),
                 .forward = blocks * block.forward().base(),
                 .head = whole ? f.stage.head * f.costs.head.total().base() : 0.0};
    c.backward = blocks * block.total().base() - c.forward;
    double const each = c.between(c.forward) + c.after(0.0, c.backward);
    double const ends = c.between(std::max(0.0, c.forward - c.up)) + c.after(0.0, c.backward);
    double const weights = std::max(0.0, c.up - c.forward);
    double const gradients = c.after(c.down, c.backward) - c.after(0.0, c.backward);
    return (m - 1.0 + filling) * each + ends + std::max(0.0, weights + gradients - data);
}

/// Transfers to and from the host hide behind the pass that they are of; its update hides behind nothing.
/// Source: [Ren2021]
template <class N> void compose_offload(Frame<N>& f, Parts<N>& parts) {
    parts.offload = literal<N>(0.0);
    if (f.strategy.offload == Offload::none) { return; }
    auto const host = host_traffic(f.setting, f.strategy);
    parts.offload = f.record.term("offload_seconds", "s",
                                  f.in("shown_copies_seconds", shown_copies(f, host, value_of(parts.data))) +
                                      f.in("host_update_seconds", host.update.base()));
}

/// What the laws leave out: the fullest rank, the slowest of many equal ones, and a fixed time.
template <class N> void compose_disturbance(Frame<N>& f, Parts<N>& parts) {
    auto const& disturbance = f.setting.disturbance;
    auto const known = f.setting.fullest_of.find(f.strategy.dp);
    double const fullest = known != f.setting.fullest_of.end() ? known->second : disturbance.imbalance;
    parts.imbalance = fullest > 1.0
                          ? f.record.term("imbalance_seconds", "s",
                                          (f.in("largest_over_mean", fullest) - literal<N>(1.0)) * parts.compute)
                          : literal<N>(0.0);
    N const busy =
        f.record.term("busy_seconds", "s",
                      parts.compute + parts.host + parts.tensor + parts.context + parts.experts + parts.pipeline +
                          parts.data + parts.bubble + parts.optimizer + parts.offload + parts.imbalance);
    double const nodes =
        std::max(1.0, static_cast<double>(f.strategy.workers()) / f.setting.cluster.accelerators_per_node);
    double const spread = disturbance.spread.value_or(f.setting.constants[Constant::rank_spread]);
    N const share = disturbance.spread || f.setting.framework.paced
                        ? f.in("spread", spread) * f.in("expected_slowest", f.setting.expected_slowest)
                        : f.in("straggler", Constant::straggler) * f.in("doublings_of_nodes", std::log2(nodes));
    parts.stragglers = f.record.term("stragglers_seconds", "s", share * busy);
    parts.overhead = f.record.term("overhead_seconds", "s", f.in("step_overhead_seconds", Constant::step_overhead));
    f.record.term("step_seconds", "s", busy + parts.stragglers + parts.overhead);
}

/// The closed form. Written once; `N` is double for speed or Traced for explanation.
template <class N>
Parts<N> compose(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, Recorder<N>& record) {
    auto const fabric = calibrated_fabric(setting.cluster, setting.constants);
    double const micro_batches = micro_batch_count(strategy, setting.workload);
    auto const stage = slowest_stage(setting, strategy, costs);
    auto const placement = place(strategy, setting.cluster.domain);
    Frame<N> f{.setting = setting,
               .strategy = strategy,
               .costs = costs,
               .fabric = fabric,
               .traffic = data_traffic(setting, strategy, placement, fabric),
               .stage = stage,
               .micro_batch_count = micro_batches,
               .record = record,
               .micro_batches = record.input("micro_batches", micro_batches),
               .layers = record.input("layers_of_slowest_stage", stage.layers),
               .block_times = {costs.block.total(), costs.block.forward(), costs.block.host_excess()},
               .placement = placement,
               .hop = hop_time(setting, strategy, placement, fabric),
               .block = {},
               .ends = {},
               .ends_tensor = {},
               .ends_experts = {},
               .ends_ahead = {}};
    f.accumulation = priced_accumulation(f);
    Parts<N> parts;
    compose_stage(f, parts);
    compose_data(f, parts);
    compose_optimizer(f, parts);
    compose_offload(f, parts);
    compose_disturbance(f, parts);
    return parts;
}

} // namespace

double largest_over_mean(Disturbance const& disturbance, int replicas) {
    if (!disturbance.uneven) { return disturbance.imbalance; }
    return expected_imbalance(disturbance.uneven->spread, disturbance.uneven->per_replica, Ranks{replicas});
}

StepTime step_time(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    Recorder<double> record;
    auto const parts = compose<double>(setting, strategy, costs, record);
    return {.compute = Seconds{parts.compute},
            .host = Seconds{parts.host},
            .tensor_communication = Seconds{parts.tensor},
            .context_communication = Seconds{parts.context},
            .expert_communication = Seconds{parts.experts},
            .pipeline_communication = Seconds{parts.pipeline},
            .data_communication = Seconds{parts.data},
            .pipeline_bubble = Seconds{parts.bubble},
            .optimizer = Seconds{parts.optimizer},
            .offload = Seconds{parts.offload},
            .imbalance = Seconds{parts.imbalance},
            .stragglers = Seconds{parts.stragglers},
            .overhead = Seconds{parts.overhead}};
}

std::vector<Term> explain_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    Recorder<Traced> record;
    compose<Traced>(setting, strategy, costs, record);
    return std::move(record.terms);
}

} // namespace headroom
