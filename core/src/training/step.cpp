#include "headroom/step.hpp"

#include "stage.hpp"
#include "traced.hpp"
#include "traffic.hpp"

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Seconds of each part of a step; the fields of `StepTime`.
template <class N> struct Parts { N compute, host, tensor, context, pipeline, data, bubble, optimizer, overhead; };

/// What data-parallel traffic takes, how often it comes, and the computation that it can run behind.
template <class N> struct Exposure {
    N reduce, gather, backward_window, forward_window, compute_window, passes, gathers, reductions;
    N old_share, loss, shard_loss;
};

/// The part of data-parallel time that shows: what does not fit its window, and a share of what does.
///
///     ZeRO 0 to 2   [r R - W_b]+ + l min(r R, W_b) + [G - W_f]+ + l min(G, W_f),   W_b = r (one backward window)
///     ZeRO 3        [T - W]+ + l_3 min(T, W),   T = passes (gathers G + R), W all computation of the step
///
/// Stacks that reduce after the backward pass show a fixed share of all of it; without overlap all of it shows.
/// Assumes:    the network does not slow the computation that it runs behind, but for the shares l.
/// Source:     [Li2020], [Zhao2023]
template <class N>
N exposed_data(Exposure<N> const& e, Strategy const& strategy, GradientOverlap style, bool fully_exposed) {
    if (fully_exposed) {
        return strategy.zero == 3 ? e.passes * (e.gathers * e.gather + e.reduce) : e.reductions * e.reduce + e.gather;
    }
    if (strategy.zero == 3) {
        N traffic = e.passes * (e.gathers * e.gather + e.reduce);
        if (style == GradientOverlap::exposed) { return traffic; }
        return larger(traffic - e.compute_window, literal<N>(0.0)) + e.shard_loss * smaller(traffic, e.compute_window);
    }
    N const reduce = e.reductions * e.reduce;
    if (style == GradientOverlap::exposed) { return e.old_share * (reduce + e.gather); }
    N const window = e.reductions * e.backward_window;
    N const behind_backward = larger(reduce - window, literal<N>(0.0)) + e.loss * smaller(reduce, window);
    N const behind_forward =
        larger(e.gather - e.forward_window, literal<N>(0.0)) + e.loss * smaller(e.gather, e.forward_window);
    return behind_backward + behind_forward;
}

/// What every part of the closed form reads.
template <class N> struct Frame {
    StepSetting const& setting;
    Strategy const& strategy;
    LayerCosts const& costs;
    Fabric fabric;
    DataTraffic traffic;
    double micro_batch_count;
    Recorder<N>& record;
    N micro_batches, layers;
    N block, ends, ends_tensor; ///< filled by `compose_stage`

    N in(char const* name, double value) const { return record.input(name, value); }
    N in(char const* name, Constant constant) const { return record.input(name, setting.constants[constant]); }
};

/// 1F1B: the slowest stage works m times; filling and draining costs the other stages once, over v when
/// each holds v chunks. Source: [Narayanan2021]
template <class N> void compose_pipeline(Frame<N>& f, N const& both_ends, Parts<N>& parts) {
    N const chunks = f.in("chunks_per_stage", f.strategy.virtual_pp);
    N const slowest = f.record.term("slowest_stage_seconds", "s", f.layers * f.block + f.ends + f.ends_tensor);
    N const all = f.record.term("all_stages_seconds", "s",
                                f.in("pipeline_stages", f.strategy.pp) * f.layers * f.block + both_ends);
    parts.bubble =
        f.record.term("pipeline_bubble_seconds", "s", f.in("bubble", Constant::bubble) * (all - slowest) / chunks);
    N const hop = f.in("hop_seconds", hop_time(f.setting, f.strategy, f.fabric).base());
    N const shown = f.strategy.overlap == Overlap::off
                        ? literal<N>(1.0)
                        : f.in("point_to_point_exposed", Constant::point_to_point_exposed);
    parts.pipeline = f.record.term("pipeline_seconds", "s",
                                   shown * (2.0 * f.micro_batches) * chunks * hop +
                                       2.0 * (f.in("stage_boundaries", f.strategy.pp - 1.0) * hop));
}

/// Kernels, host, tensor and context parts of the slowest stage, over all its micro-batches.
template <class N> void compose_stage(Frame<N>& f, Parts<N>& parts) {
    auto const kernels_of = [](LayerCost const& c) { return (c.gemm + c.attention + c.memory + c.kernels).base(); };
    N const kernels = f.in("block_kernel_seconds", kernels_of(f.costs.block));
    N const host = f.in("block_host_excess_seconds", f.costs.block.host_excess().base());
    N const tensor = f.in("block_tensor_exposed_seconds", f.costs.block.tensor_exposed.base());
    N const context = f.in("block_context_exposed_seconds", f.costs.block.context_exposed.base());
    N const head = f.in("head_seconds", kernels_of(f.costs.head));
    N const embedding = f.in("embedding_seconds", kernels_of(f.costs.embedding));
    N const head_tensor = f.in("head_tensor_exposed_seconds", f.costs.head.tensor_exposed.base());
    N const embedding_tensor = f.in("embedding_tensor_exposed_seconds", f.costs.embedding.tensor_exposed.base());
    // the output projection is on the last stage, the embedding on the first: one of them is the slowest
    bool const last = end_is_slower(f.costs.head, f.costs.embedding);
    auto const end_of = [&](N const& at_last, N const& at_first) {
        return f.strategy.pp == 1 ? at_last + at_first : last ? at_last : at_first;
    };
    f.ends = f.record.term("ends_seconds", "s", end_of(head, embedding));
    f.ends_tensor = f.record.term("ends_tensor_seconds", "s", end_of(head_tensor, embedding_tensor));
    f.block = f.record.term("block_seconds", "s", kernels + host + tensor + context);
    parts.compute = f.record.term("compute_seconds", "s", f.micro_batches * (f.layers * kernels + f.ends));
    parts.host = f.record.term("host_seconds", "s", f.micro_batches * f.layers * host);
    parts.tensor = f.record.term("tensor_seconds", "s", f.micro_batches * (f.layers * tensor + f.ends_tensor));
    parts.context = f.record.term("context_seconds", "s", f.micro_batches * f.layers * context);
    parts.bubble = parts.pipeline = literal<N>(0.0);
    if (f.strategy.pp > 1) { compose_pipeline(f, head + embedding + head_tensor + embedding_tensor, parts); }
}

/// Gradient reduction and weight gathering beyond what hides behind computation.
template <class N> void compose_data(Frame<N>& f, Parts<N>& parts) {
    auto const& block = f.costs.block;
    double const layers = static_cast<double>(f.setting.model.layers) / f.strategy.pp;
    Seconds const kernels = block.gemm + block.attention + block.memory;
    double const stretch = kernels.base() > 0.0 ? block.total() / kernels : 0.0; // gaps, host and exposed traffic
    double const backward = block.backward.base() * layers * stretch;
    double const forward = (kernels - block.backward - block.recompute).base() * layers * stretch;
    // the last micro-batch hides traffic; interleaved, the last p of them do
    double const micro_batches =
        f.strategy.virtual_pp > 1 ? std::min(f.micro_batch_count, static_cast<double>(f.strategy.pp)) : 1.0;
    double const reductions = reductions_per_step(f.strategy, f.setting.framework, f.micro_batch_count);
    Exposure<N> const exposure{
        .reduce = f.in("reduce_seconds", (f.traffic.reduce + f.traffic.replicate).base()),
        .gather = f.in("gather_seconds", f.traffic.gather.base()),
        .backward_window = f.in("backward_window_seconds", backward * micro_batches),
        .forward_window = f.in("forward_window_seconds", forward * micro_batches),
        .compute_window = f.micro_batches * f.layers * f.block,
        .passes = f.in("sharded_passes_per_step", reductions),
        .gathers = f.in("gathers_per_pass", gathers_per_pass(f.strategy, f.setting.framework)),
        .reductions = f.in("reductions_per_step", reductions),
        .old_share = f.in("gradients_exposed_old", Constant::gradients_exposed_old),
        .loss = f.in("gradients_exposed", Constant::gradients_exposed),
        .shard_loss = f.in("shard_overlap_loss", Constant::shard_overlap_loss),
    };
    bool const fully_exposed = f.strategy.overlap == Overlap::off;
    parts.data = f.record.term("data_seconds", "s",
                               exposed_data(exposure, f.strategy, f.setting.framework.gradient_overlap, fully_exposed));
}

/// Gradient accumulation every micro-batch and the update once: both are bound by memory.
template <class N> void compose_optimizer(Frame<N>& f, Parts<N>& parts) {
    auto const bandwidth =
        f.setting.cluster.accelerator.memory_bandwidth * f.setting.constants[Constant::memory_fraction];
    N const memory = f.in("memory_bytes_per_second", bandwidth.base());
    double const trained = f.traffic.local_parameters * trained_share(f.strategy);
    auto const shards = shards_of(f.strategy);
    N const accumulate = f.in("accumulate_bytes", Constant::accumulate_bytes) *
                         f.in("accumulated_parameters", trained / shards.gradients) * f.micro_batches / memory;
    N const update = f.in("optimizer_traffic_bytes", Constant::optimizer_traffic) *
                     f.in("updated_parameters", trained / shards.optimizer) / memory;
    parts.optimizer = f.record.term("optimizer_seconds", "s", accumulate + update);
}

/// The closed form. Written once; `N` is double for speed or Traced for explanation.
template <class N>
Parts<N> compose(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, Recorder<N>& record) {
    auto const fabric = calibrated_fabric(setting.cluster, setting.constants);
    double const micro_batches = micro_batch_count(strategy, setting.workload);
    Frame<N> f{.setting = setting,
               .strategy = strategy,
               .costs = costs,
               .fabric = fabric,
               .traffic = data_traffic(setting, strategy, fabric),
               .micro_batch_count = micro_batches,
               .record = record,
               .micro_batches = record.input("micro_batches", micro_batches),
               .layers = record.input("layers_per_stage", static_cast<double>(setting.model.layers) / strategy.pp),
               .block = {},
               .ends = {},
               .ends_tensor = {}};
    Parts<N> parts;
    compose_stage(f, parts);
    compose_data(f, parts);
    compose_optimizer(f, parts);
    N const busy = record.term("busy_seconds", "s",
                               parts.compute + parts.host + parts.tensor + parts.context + parts.pipeline + parts.data +
                                   parts.bubble + parts.optimizer);
    double const nodes = std::max(1.0, static_cast<double>(strategy.workers()) / setting.cluster.accelerators_per_node);
    N const drag = f.in("straggler", Constant::straggler) * f.in("doublings_of_nodes", std::log2(nodes)) * busy;
    parts.overhead =
        record.term("overhead_seconds", "s", f.in("step_overhead_seconds", Constant::step_overhead) + drag);
    record.term("step_seconds", "s", busy + parts.overhead);
    return parts;
}

} // namespace

StepTime step_time(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    Recorder<double> record;
    auto const parts = compose<double>(setting, strategy, costs, record);
    return {.compute = Seconds{parts.compute},
            .host = Seconds{parts.host},
            .tensor_communication = Seconds{parts.tensor},
            .context_communication = Seconds{parts.context},
            .pipeline_communication = Seconds{parts.pipeline},
            .data_communication = Seconds{parts.data},
            .pipeline_bubble = Seconds{parts.bubble},
            .optimizer = Seconds{parts.optimizer},
            .overhead = Seconds{parts.overhead}};
}

std::vector<Term> explain_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    Recorder<Traced> record;
    compose<Traced>(setting, strategy, costs, record);
    return std::move(record.terms);
}

} // namespace headroom
