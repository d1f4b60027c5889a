#include "step_screen.hpp"

#include "headroom/training/host_launches.hpp"
#include "headroom/training/pipeline.hpp"

#include <algorithm>

namespace headroom::training {
namespace {

double kernels_of(LayerCost const& cost) { return (cost.gemm + cost.attention + cost.memory).base(); }

/// Time of each pass that gradients and weights can overlap with, seconds of one micro-batch on the longest stage.
struct Windows {
    double forward = 0.0, backward = 0.0;
    /// Fraction of both that grows with kernel time when traffic slows kernels; waits for launches do not grow.
    double slowed = 1.0;
};

/// Time of the passes in which no other traffic uses the NIC that gradients and weights use.
Windows windows_of(LayerCosts const& costs, ScreenedWork const& work, Placement const& placement) {
    auto const& block = costs.block;
    double nic = 0.0;
    if (placement.data.domains() > 1) {
        nic += placement.tensor.domains() > 1 ? block.tensor.time.base() : 0.0;
        nic += placement.context.domains() > 1 ? block.context.time.base() : 0.0;
        nic += placement.experts.domains() > 1 ? block.experts.time.base() : 0.0;
    }
    double const both = work.forward + work.backward;
    double const share = both > 0.0 ? std::max(0.0, 1.0 - nic * work.blocks / both) : 0.0;
    return {.forward = work.forward * share,
            .backward = work.backward * share,
            .slowed = both > 0.0 ? work.slowed / both : 1.0};
}

/// Exposed time of traffic T that overlaps with passes of time V: max(l min(T, V), T - V), l the loss by overlap.
double exposed_traffic(double traffic, double window, double loss) {
    return std::max(loss * std::min(traffic, window), traffic - window);
}

/// Exposed time of ZeRO 3's gathers and reductions, seconds a step. `reduce` and `gather` are the durations of one full
/// reduction and gather. Those of the first and the last block overlap with no pass.
double sharded_data(StepSetting const& setting, Strategy const& strategy, ScreenedWork const& work,
                    Windows const& window, double reduce, double gather, double micro_batches) {
    auto const& framework = setting.framework;
    double const regather = (gathers_of_micro_batch(strategy, framework) - 1.0) * gather; // for the backward pass
    bool const hides_gather = data_exposure(strategy, framework, TrafficKind::parameters) == DataExposure::excess;
    bool const hides_reduce = data_exposure(strategy, framework, TrafficKind::gradients) == DataExposure::excess;
    double const gatherings = gatherings_per_step(strategy, framework, micro_batches);
    double const reductions = reductions_per_step(strategy, framework, micro_batches);
    double const loss = setting.constants[Constant::shard_overlap_loss] * window.slowed;
    double const with_backward = hides_reduce ? reduce : 0.0, with_forward = hides_gather ? gather : 0.0;
    double const before_backward = hides_gather ? regather : 0.0;
    // reductions that outlast a backward pass overlap with the next forward pass, after its gathering
    double const with_next =
        std::min(with_backward, std::max(0.0, window.forward - with_forward)) * (1.0 - 1.0 / std::max(1.0, reductions));
    // the CPU launches kernels during exposed_traffic traffic: launch waits and this traffic pass at the same time
    double const unhidden =
        gatherings * (gather + regather - with_forward - before_backward) + reductions * (reduce - with_backward);
    double const last_block = (reduce - with_backward) / std::max(1.0, work.blocks);
    double const alone = std::max({0.0, last_block, unhidden - micro_batches * work.idle});
    return alone + gatherings * exposed_traffic(with_forward, window.forward, loss) +
           (gatherings - reductions) * exposed_traffic(before_backward, window.backward, loss) +
           reductions * exposed_traffic(before_backward + with_backward, window.backward + with_next, loss) +
           (with_forward + with_backward) / std::max(1.0, work.blocks);
}

/// Exposed time of traffic that overlaps with `window` seconds of passes; `alone` of it, a layer or bucket, with none.
double overlapped_data(StepSetting const& setting, DataExposure exposure, double traffic, Windows const& passes,
                       double window, double alone) {
    auto const& constants = setting.constants;
    switch (exposure) {
    case DataExposure::all: return traffic;
    case DataExposure::most: {
        double const outside = constants[Constant::gradients_exposed_old];
        return outside * traffic + std::max(0.0, (1.0 - outside) * traffic - window);
    }
    case DataExposure::excess: break;
    }
    return exposed_traffic(traffic, window, constants[Constant::gradients_exposed] * passes.slowed) + alone;
}

/// Number of passes of a stage that the gradients or updated weights of its chunks overlap with. With interleaved chunks,
/// p micro-batches run between one chunk's last backward (first forward) pass and the next chunk's.
double updated_span(Strategy const& strategy, double micro_batches) {
    double const v = strategy.virtual_pp;
    if (strategy.pp == 1 || v <= 1.0) { return 1.0; }
    return (std::min(micro_batches, static_cast<double>(strategy.pp)) * (v - 1.0) + 1.0) / v;
}

/// Exposed time of gradients and weights, seconds a step.
double data_of(StepSetting const& setting, Strategy const& strategy, ScreenedWork const& work, Windows const& window,
               PlacedTraffic const& traffic, double micro_batches) {
    double const reductions = reductions_per_step(strategy, setting.framework, micro_batches);
    double const updates = updates_per_step(strategy, micro_batches);
    double const reduce = traffic.data.reduce().base(), gather = traffic.data.gather().base();
    double const blocking = traffic.data.blocking.base() * updates;
    if (strategy.zero == 3) {
        return blocking + sharded_data(setting, strategy, work, window, reduce, gather, micro_batches);
    }
    // a reduction that outlasts its backward pass overlaps with the forward pass of the next micro-batch
    double const span = updated_span(strategy, micro_batches);
    double const backward_time = (reductions - updates + updates * span) * window.backward +
                                 std::max(0.0, reductions - updates) * window.forward;
    double const forward_time = updates * span * window.forward;
    double const held = traffic.held.all();
    double const last_bucket = held > 0.0 ? std::min(1.0, setting.framework.bucket_elements / held) : 0.0;
    double const first_layer = 1.0 / std::max(1.0, work.blocks);
    auto const of_gradients = data_exposure(strategy, setting.framework, TrafficKind::gradients);
    auto const of_weights = data_exposure(strategy, setting.framework, TrafficKind::parameters);
    return blocking +
           overlapped_data(setting, of_gradients, reductions * reduce, window, backward_time,
                           updates * last_bucket * reduce) +
           overlapped_data(setting, of_weights, updates * gather, window, forward_time, updates * first_layer * gather);
}

/// Waiting for other stages and for transfers.
double pipeline_of(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                   ScreenedWork const& work, Placement const& placement, double micro_batches) {
    if (strategy.pp == 1) { return 0.0; }
    auto const shape = pipeline_shape(strategy, setting.workload);
    auto const& row = schedule_row(strategy.schedule());
    double const longest = work.forward + work.backward;
    double const average = (work.all_stages - longest) / (shape.stages - 1.0); // of the stages but the longest
    auto const& block = costs.block;
    double const forward = average * work.forward / longest;
    double const weight = average * block.weight_gradient.base() / std::max(1e-30, block.total().base());
    StageTimes const times{.forward = forward, .input = std::max(0.0, average - forward - weight), .weight = weight};
    double const bubble = (shape.stages - 1.0) * std::max(0.0, row.bubble.sum(times)) / strategy.virtual_pp +
                          micro_batches * std::max(0.0, row.drift.sum(times));
    double const hop =
        hop_time(setting, strategy, placement, calibrated_fabric(setting.cluster, setting.constants)).base();
    // a micro-batch passes all chunks of all stages forward and back while the pipeline fills and drains
    double const fills = row.asynchronous ? 0.0 : 2.0 * (static_cast<double>(shape.stages) * shape.chunks - 1.0) * hop;
    double const blocks =
        strategy.overlap[TrafficKind::pipeline] == Overlap::off ? 2.0 * micro_batches * shape.chunks * hop : 0.0;
    double const waits = shape.chunks > 1 ? std::max(0.0, micro_batches - shape.stages) * (shape.chunks - 1.0) : 0.0;
    return bubble + fills + blocks + waits * std::max(0.0, hop - work.forward / shape.chunks);
}

/// Time to accumulate gradients and to update weights in device memory, seconds; the update on the CPU is in `copies_of`.
double update_of(StepSetting const& setting, Strategy const& strategy, PlacedTraffic const& traffic,
                 double micro_batches) {
    auto const trained = trained_parts(strategy, setting.model, setting.count);
    auto const kept = [&](double Shards::*part) {
        return trained.dense * traffic.held.dense / shards_of(strategy).*part +
               trained.experts * traffic.held.experts / expert_shards_of(strategy).*part;
    };
    auto const& constants = setting.constants;
    double const accumulated = kept(strategy.zero == 2 ? &Shards::weights : &Shards::gradients);
    double const updated = offloads_optimizer(strategy.offload)
                               ? 0.0
                               : kept(&Shards::optimizer) * updates_per_step(strategy, micro_batches);
    double const bytes = constants[Constant::accumulate_bytes] * accumulated * micro_batches +
                         constants[Constant::optimizer_traffic] * update_share(setting.framework) * updated;
    return bytes / sustained_memory(setting).base() + update_products(setting, strategy) * updated;
}

/// Exposed time of copies to and from host memory, and of the update on the CPU, seconds.
double copies_of(StepSetting const& setting, Strategy const& strategy, ScreenedWork const& work, double micro_batches) {
    if (strategy.offload == Offload::none) { return 0.0; }
    auto const host = host_traffic(setting, strategy);
    double const one_way = work.blocks * kept_block_transfer(setting, strategy).base();
    bool const blocks = strategy.overlap[TrafficKind::offload] == Overlap::off;
    double const late =
        blocks ? 2.0 * one_way : std::max(0.0, one_way - work.forward) + std::max(0.0, one_way - work.backward);
    return (micro_batches + strategy.pp - 1.0) * late + host.update.base() +
           std::max(0.0, host.optimizer_transfer.base() - work.forward - work.backward);
}

/// Time in which the chip waits for launches during a pass.
double idle_of(PassCost const& pass) { return std::max(0.0, (pass.host - pass.chip).base()); }

/// Cost of the blocks `first` up to `end`; frozen blocks run forward only.
LayerCost stage_cost(LayerCosts const& costs, double first, double end) {
    LayerCost stage;
    auto const frozen = static_cast<double>(costs.frozen_blocks);
    if (frozen == 0.0) {
        stage.add(costs.block, end - first);
        return stage;
    }
    double const without = std::clamp(frozen - first, 0.0, end - first);
    stage.add(costs.frozen, without);
    stage.add(costs.trained, end - first - without);
    return stage;
}

/// Cost of all blocks and both ends.
LayerCost model_cost(LayerCosts const& costs, int depth) {
    LayerCost model = stage_cost(costs, 0.0, depth);
    model.add(costs.embedding, 1.0);
    model.add(costs.head, 1.0);
    return model;
}

} // namespace

ScreenedWork screened_work(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    int const depth = depth_of(setting.model), p = strategy.pp;
    bool const both_ends = p == 1 || schedule_row(strategy.schedule()).layout != ChunkLayout::loop;
    ScreenedWork longest;
    for (StagePlace const place : {StagePlace::last, StagePlace::middle, StagePlace::first}) {
        bool const is_first = place == StagePlace::first, is_last = place == StagePlace::last;
        if ((p == 1 && !is_first) || (p == 2 && place == StagePlace::middle)) { continue; }
        double const n = stage_layers(setting.model, p, p == 1 ? StagePlace::whole : place);
        double const after = is_last ? 0.0 : stage_layers(setting.model, p, StagePlace::last);
        double const end = is_first ? n : depth - after;
        LayerCost stage = stage_cost(costs, end - n, end);
        if (is_first) { stage.add(costs.embedding, 1.0); }
        if (is_last || (both_ends && is_first)) { stage.add(costs.head, 1.0); }
        double const forward = stage.forward().base(), backward = stage.back().base();
        if (forward + backward <= longest.forward + longest.backward) { continue; }
        longest.blocks = n;
        longest.forward = forward, longest.backward = backward;
        longest.kernels = kernels_of(stage);
        longest.idle = idle_of(stage.forward_pass()) + idle_of(stage.backward_pass()) + stage.routed_wait.base();
        double const chip = stage.chip().base() / (forward + backward);
        longest.slowed = longest.kernels * chip * chip; // derivative of (chip^3 + host^3)^(1/3)
    }
    longest.all_stages = model_cost(costs, depth).total().base();
    return longest;
}

Seconds screen_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                    ScreenedWork const& work, PlacedTraffic const& traffic) {
    double const m = micro_batch_count(strategy, setting.workload);
    auto const window = windows_of(costs, work, traffic.placement);
    StepTime const time{.compute = Seconds{m * work.kernels},
                        .host = Seconds{m * (work.forward + work.backward - work.kernels)},
                        .pipeline_communication =
                            Seconds{pipeline_of(setting, strategy, costs, work, traffic.placement, m)},
                        .data_communication = Seconds{data_of(setting, strategy, work, window, traffic, m)},
                        .optimizer = Seconds{update_of(setting, strategy, traffic, m)},
                        .offload = Seconds{copies_of(setting, strategy, work, m)}};
    return disturbed(time, setting, strategy).total();
}

Seconds screen_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    return screen_step(setting, strategy, costs, screened_work(setting, strategy, costs),
                       placed_traffic(setting, strategy));
}

Seconds step_floor(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    constexpr double rounding = 1e-3; // of ticks and sums, with room to spare
    if (runs_without_flush(strategy)) { return {}; }
    double const m = micro_batch_count(strategy, setting.workload), stages = strategy.pp;
    LayerCost const model = model_cost(costs, depth_of(setting.model));
    double const kernels = kernels_of(model);
    // a slower pace hides more of the traffic that overlaps with kernels
    double const hidden = std::max(0.0, 1.0 - 1.0 / costs.paced) * kernels;
    double const exposed_traffic =
        std::max({model.tensor.exposed, model.context.exposed, model.experts.exposed}).base();
    StepTime time{.host = Seconds{m * (kernels + std::max(0.0, exposed_traffic - hidden)) / stages}};
    if (strategy.pp == 1 && costs.frozen_blocks == 0) {
        time.optimizer = Seconds{update_of(setting, strategy, placed_traffic(setting, strategy), m)};
    }
    return disturbed(time, setting, strategy).total() * (1.0 - rounding);
}

} // namespace headroom::training
