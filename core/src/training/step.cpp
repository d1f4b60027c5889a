#include "headroom/training/step.hpp"

#include "step_frame.hpp"

#include "headroom/network/compression.hpp"
#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

namespace headroom::training {

using namespace headroom::network;

BytesPerSecond sustained_memory(StepSetting const& setting) {
    return setting.cluster.accelerator.memory_bandwidth * setting.constants[Constant::memory_fraction];
}

namespace {

/// Parameters whose gradients are added up after every micro-batch. With ZeRO 2 a pass still writes whole gradients and
/// reads them to send them.
double accumulated_parameters(Strategy const& strategy, StageHolding const& of) {
    double const parts = has_two_directions(strategy) ? 2.0 : 1.0;
    return kept_of(strategy, of, strategy.zero == 2 ? &Shards::weights : &Shards::gradients) / parts;
}

/// What adding one micro-batch's gradients up takes: a part of the backward pass.
template <class N> double priced_accumulation(Frame<N> const& f) {
    return f.setting.constants[Constant::accumulate_bytes] * f.accumulated / sustained_memory(f.setting).base();
}

/// Bytes that compressing and decompressing the gradients reads and writes.
template <class N> double compression_bytes(Frame<N> const& f) {
    if (f.strategy.compression.kind == Compression::none || f.strategy.data_ranks() == 1) { return 0.0; }
    Bytes const gradients = f.traffic.dense.gradients + f.traffic.experts.gradients; // of what is trained
    double const width = state_widths(f.setting.framework, f.strategy.precision).reduced;
    double const elements = gradients.base() / width;
    auto const sent = compressed_gradients(f.strategy.compression, elements, width, Ranks{f.strategy.data_ranks()});
    return sent.touched_per_parameter * elements;
}

/// Gradient accumulation every micro-batch and the update once, or as often (PipeDream): both are bound by memory. An
/// update on the host is not the accelerator's.
template <class N> void compose_optimizer(Frame<N>& f, Parts<N>& parts) {
    N const memory = f.in("memory_bytes_per_second", sustained_memory(f.setting).base());
    double const updates = updates_per_step(f.strategy, f.micro_batch_count);
    N const accumulate = f.in("accumulate_bytes", Constant::accumulate_bytes) *
                         f.in("accumulated_parameters", f.accumulated) * f.micro_batches / memory;
    double const updated =
        offloads_optimizer(f.strategy.offload) ? 0.0 : kept_of(f.strategy, f.holding, &Shards::optimizer) * updates;
    N const update =
        f.in("optimizer_traffic_bytes", Constant::optimizer_traffic) * f.in("updated_parameters", updated) / memory;
    N const compress = f.in("compression_bytes", compression_bytes(f)) / memory;
    bool const compresses = f.strategy.compression.kind != Compression::none;
    parts.optimizer =
        f.record.term("optimizer_seconds", "s", compresses ? accumulate + update + compress : accumulate + update);
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
    double const spread = disturbance.spread.value_or(f.setting.constants[Constant::rank_spread]);
    N const share = disturbance.spread || f.setting.framework.paced
                        ? f.in("spread", spread) * f.in("expected_slowest", f.setting.expected_slowest)
                        : literal<N>(0.0);
    parts.stragglers = f.record.term("stragglers_seconds", "s", share * busy);
    parts.overhead = f.record.term("overhead_seconds", "s", f.in("step_overhead_seconds", Constant::step_overhead));
    f.record.term("step_seconds", "s", busy + parts.stragglers + parts.overhead);
}

/// The parts of a step as one stage has them, and what the other stages add. `where` is where it stands where every stage has its
/// own gradients and updates beside its passes; the whole: the slowest, with the gradients of the fullest.
template <class N>
Parts<N> compose_at(StagePlace where, StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                    SlowestStage const& slowest, PlacedTraffic const& placed, Recorder<N>& record) {
    auto const fabric = calibrated_fabric(setting.cluster, setting.constants);
    double const micro_batches = micro_batch_count(strategy, setting.workload);
    std::optional<PricedStage> of;
    auto const first =
        where == StagePlace::whole ? first_stage_ends(setting, strategy, costs, placed) : std::optional<DataTraffic>{};
    if (where != StagePlace::whole || costs.frozen_blocks > 0 || first) {
        of = priced_stage(where, setting, strategy, costs, slowest, placed, fabric, first);
    }
    auto const holding = of ? of->holding : holding_at(setting, strategy, placed.data);
    LayerCosts const& used = of && of->own ? *of->own : costs;
    SlowestStage const& stage = of ? of->stage : slowest;
    Frame<N> f{.setting = setting,
               .strategy = strategy,
               .costs = used,
               .fabric = fabric,
               .holding = holding,
               .holding_stage = of ? of->holding_stage : 0,
               .through_early = of ? of->through_early : 0.0,
               .traffic = of ? of->traffic : placed.data,
               .accumulated = accumulated_parameters(strategy, of ? of->accumulating : holding),
               .stage = stage,
               .micro_batch_count = micro_batches,
               .record = record,
               .micro_batches = record.input("micro_batches", micro_batches),
               .layers = record.input("layers_of_slowest_stage", stage.layers),
               .block_times = block_times(setting, strategy, used.block),
               .placement = placed.placement,
               .hop = hop_time(setting, strategy, placed.placement, fabric),
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
    if (runs_without_flush(strategy)) { compose_windows(f, parts); }
    if (strategy.pp == 1) { compose_host(f, parts); }
    compose_disturbance(f, parts);
    return parts;
}

} // namespace

StagePlace priced_place(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                        SlowestStage const& slowest, PlacedTraffic const& placed) {
    if (!runs_without_flush(strategy)) { return StagePlace::whole; }
    StagePlace longest_at = StagePlace::first;
    double longest = 0.0;
    for (StagePlace const place : {StagePlace::first, StagePlace::middle, StagePlace::last}) {
        if (place == StagePlace::middle && strategy.pp == 2) { continue; }
        Recorder<double> record;
        auto const parts = compose_at<double>(place, setting, strategy, costs, slowest, placed, record);
        double const time = parts.compute + parts.host + parts.tensor + parts.context + parts.experts + parts.pipeline +
                            parts.data + parts.optimizer + parts.offload;
        if (time > longest) { longest_at = place, longest = time; }
    }
    return longest_at;
}

namespace {

/// The closed form. Written once; `N` is double for speed or Traced for explanation.
template <class N>
Parts<N> compose(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                 SlowestStage const& stage, PlacedTraffic const& placed, Recorder<N>& record) {
    return compose_at(priced_place(setting, strategy, costs, stage, placed), setting, strategy, costs, stage, placed,
                      record);
}

} // namespace

double largest_over_mean(Disturbance const& disturbance, int replicas) {
    if (!disturbance.uneven) { return disturbance.imbalance; }
    return expected_imbalance(disturbance.uneven->spread, disturbance.uneven->per_replica, Ranks{replicas});
}

StepTime step_time(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    return step_time(setting, strategy, costs, slowest_stage(setting, strategy, costs),
                     placed_traffic(setting, strategy));
}

StepTime step_time(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                   SlowestStage const& stage, PlacedTraffic const& traffic) {
    Recorder<double> record;
    auto const parts = compose<double>(setting, strategy, costs, stage, traffic, record);
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
    compose<Traced>(setting, strategy, costs, slowest_stage(setting, strategy, costs),
                    placed_traffic(setting, strategy), record);
    return std::move(record.terms);
}

} // namespace headroom::training
