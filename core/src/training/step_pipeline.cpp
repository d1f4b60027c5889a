#include "pipeline_time.hpp"
#include "step_frame.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace headroom::training {
namespace {

/// Every place as it is, for rows to be run; none where they are too long.
template <class N> std::vector<StageTimes> places_of(Frame<N> const& f, PipelineWork const& work) {
    PipelineShape const shape = pipeline_shape(f.strategy, f.setting.workload);
    double const passes = 3.0 * shape.stages * shape.chunks * shape.micro_batches;
    if (passes > most_passes_run) { return {}; }
    auto const passes_of_layer = [&work](LayerCost const& cost, Seconds total) {
        return work.schedule.splits_backward ? split_passes_of(cost) : passes_of(cost, total.base());
    };
    auto const block = passes_of_layer(f.costs.block, f.stage.block_time);
    auto head = passes_of_layer(f.costs.head, f.stage.head_time);
    auto ends = passes_of_layer(f.costs.embedding, f.stage.embedding_time);
    head.input -= f.stage.ahead.head.base(), ends.forward -= f.stage.ahead.embedding.base();
    auto const blocks = blocks_of_parts(depth_of(f.setting.model), shape, work.schedule.layout);
    std::vector<std::size_t> first(blocks.size() + 1, 0);
    for (std::size_t part = 0; part < blocks.size(); ++part) {
        first[part + 1] = first[part] + static_cast<std::size_t>(blocks[part]);
    }
    StageTimes const frozen{.forward = f.costs.frozen.forward().base(), .input = 0.0, .weight = 0.0};
    auto const trained = passes_of_layer(f.costs.trained, f.costs.trained.total());
    auto const work_of = [&](std::size_t part, double StageTimes::*pass) {
        std::size_t const last_frozen = std::clamp(f.costs.frozen_blocks, first[part], first[part + 1]);
        if (f.costs.frozen_blocks == 0) { return f.costs.blocks_between(first[part], first[part + 1]) * block.*pass; }
        return static_cast<double>(last_frozen - first[part]) * frozen.*pass +
               static_cast<double>(first[part + 1] - last_frozen) * trained.*pass;
    };
    double const accumulate = f.accumulation / (has_two_directions(f.strategy) ? 1.0 : shape.chunks);
    std::vector<StageTimes> places;
    for (int stage = 0; stage < shape.stages; ++stage) {
        for (int chunk = 0; chunk < shape.chunks; ++chunk) {
            auto const part = static_cast<std::size_t>(part_of(shape, work.schedule.layout, {stage, chunk}));
            bool const adds_up = first[part + 1] > f.costs.frozen_blocks;
            StageTimes place{.forward = 0.0, .input = 0.0, .weight = adds_up ? accumulate : 0.0};
            for (double StageTimes::*pass : {&StageTimes::forward, &StageTimes::input, &StageTimes::weight}) {
                place.*pass += work_of(part, pass) + (part == 0 ? ends.*pass : 0.0) +
                               (part + 1 == blocks.size() ? head.*pass : 0.0);
            }
            places.push_back(place);
        }
    }
    return places;
}

/// Whether gradients and weights run beside passes and slow them.
template <class N> bool hides_traffic(Frame<N> const& f) {
    return f.strategy.overlap != Overlap::off && f.setting.framework.gradient_overlap == GradientOverlap::hidden;
}

/// What a place sends and updates, by the parameters that it holds and trains.
template <class N> ChunkTraffic traffic_of(Frame<N> const& f, StageShare const& share, double update) {
    auto const held = stage_parameters(f.setting, f.strategy, share);
    bool const some =
        f.costs.frozen_blocks > 0; // the priced stage sends of its trained blocks, and so does every other
    auto const& [dense, experts] = std::tie(f.traffic.dense, f.traffic.experts);
    auto const& trained = f.holding.trained;
    StageParameters const priced{.dense = dense.parameters_held * (some ? trained.dense : 1.0),
                                 .experts = experts.parameters_held * (some ? trained.experts : 1.0)};
    auto const part = [](double of, double all) { return all > 0.0 ? of / all : 0.0; };
    double const d = part(held.dense, priced.dense), e = part(held.experts, priced.experts);
    double const table = some ? 0.0 : stage_parameters(f.setting, f.strategy, StageShare{.first = true}).all();
    return {.gather = d * dense.gather.base() + e * experts.gather.base(),
            .reduce = d * (dense.reduce + dense.replicate).base() + e * (experts.reduce + experts.replicate).base(),
            .late = std::min(1.0, ((share.first ? table : 0.0) + bucket_elements) / std::max(1.0, held.all())),
            .update = update * part(held.all(), priced.all())};
}

/// Gradients and weights of every place beside its passes.
template <class N> TrafficBeside traffic_beside(Frame<N> const& f, PipelineWork const& work, double update) {
    TrafficBeside beside;
    PipelineShape const shape = pipeline_shape(f.strategy, f.setting.workload);
    auto const blocks = blocks_of_parts(depth_of(f.setting.model), shape, work.schedule.layout);
    auto const frozen = static_cast<int>(f.costs.frozen_blocks);
    std::vector<int> trained; // of every part
    for (int before = 0; int const size : blocks) {
        trained.push_back(std::clamp(before + size - frozen, 0, size));
        before += size;
    }
    for (int stage = 0; stage < shape.stages; ++stage) {
        for (int chunk = 0; chunk < shape.chunks; ++chunk) {
            auto const part = static_cast<std::size_t>(part_of(shape, work.schedule.layout, {stage, chunk}));
            StageShare const share{
                .blocks = 1.0 * trained[part], .first = part == 0 && frozen == 0, .last = part + 1 == blocks.size()};
            beside.chunks.push_back(traffic_of(f, share, update));
        }
    }
    auto const& block = f.costs.block;
    double const all = f.block_times.total.base();
    auto const use = adapter_use(f.placement, block);
    beside.kernels = all > 0.0 ? (block.gemm + block.attention + block.memory).base() / all : 0.0;
    beside.loss = f.setting.constants[Constant::gradients_exposed];
    beside.adapter = all > 0.0 ? use.shown / all : 0.0;
    double const hidden = all > 0.0 ? use.hidden / all : 0.0;
    beside.longer = 1.0 / std::max(0.5, 1.0 - (beside.adapter + hidden) / (1.0 + beside.adapter));
    auto const idle = host_idle(f.setting, f.strategy, block, f.block_times);
    beside.idle_forward = idle.forward, beside.idle_backward = idle.backward;
    beside.transfers = f.placement.pipeline_leaves_domain && f.placement.data.domains() > 1;
    return beside;
}

/// The slowest stage and the mean of the others, by pass.
template <class N> PipelineWork pipeline_work(Frame<N> const& f) {
    int const stages = f.strategy.pp;
    PipelineWork work{.schedule = schedule_row(f.strategy.schedule()),
                      .stages = stages,
                      .chunks = pipeline_shape(f.strategy, f.setting.workload).chunks,
                      .micro_batches = f.micro_batch_count,
                      .slowest = {},
                      .others = {}};
    auto const id = work.schedule.id;                   // these wait and transfer as long whatever the passes are
    bool const as_they_are = f.costs.frozen_blocks > 0; // stages of unlike passes
    if (id == PipelineSchedule::one_f_one_b || (id == PipelineSchedule::gpipe && !as_they_are)) { return work; }
    auto const block = passes_of(f.costs.block, f.stage.block_time.base());
    auto head = passes_of(f.costs.head, f.stage.head_time.base());
    auto ends = passes_of(f.costs.embedding, f.stage.embedding_time.base());
    head.input -= f.stage.ahead.head.base(), ends.forward -= f.stage.ahead.embedding.base();
    for (double StageTimes::*pass : {&StageTimes::forward, &StageTimes::input, &StageTimes::weight}) {
        work.slowest.*pass = f.stage.layers * block.*pass + f.stage.head * head.*pass + f.stage.embedding * ends.*pass;
        double const all = f.stage.model_layers * block.*pass + head.*pass + ends.*pass;
        work.others.*pass = std::max(0.0, all - work.slowest.*pass) / (stages - 1.0);
    }
    work.slowest.weight += f.accumulation;
    work.others.weight += f.accumulation;
    if ((id != PipelineSchedule::interleaved || as_they_are) && !work.schedule.asynchronous) {
        work.places = places_of(f, work);
    }
    if (!work.places.empty() && hides_traffic(f)) {
        work.update = update_seconds(f);
        work.beside = traffic_beside(f, work, work.update);
    }
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
        group.time += f.accumulation;
        slowest = std::max(slowest, group.time);
    }
    auto const length = [&](double transfer) {
        auto const at = [&](double m) {
            return one_f_one_b_length(stages, static_cast<int>(m), transfer, f.strategy.overlap == Overlap::off);
        };
        double const whole = std::floor(f.micro_batch_count), rest = f.micro_batch_count - whole;
        return rest > 0.0 ? at(whole) + rest * (at(whole + 1.0) - at(whole)) : at(whole);
    };
    double const without = length(0.0);
    return {.bubble = std::max(0.0, without - f.micro_batch_count * slowest),
            .transfers = std::max(0.0, length(hop) - without)};
}

/// Rows that were run.
template <class N> void compose_rows(Frame<N>& f, RowsRun const& run, Parts<N>& parts) {
    parts.bubble = f.record.term("stages_wait_seconds", "s", f.in("schedule_wait_seconds", run.bubble));
    parts.pipeline = f.record.term("pipeline_seconds", "s", f.in("transfer_wait_seconds", run.transfers));
    if (hides_traffic(f)) { f.traffic_in_rows = run.data; }
}

} // namespace

bool has_two_directions(Strategy const& strategy) {
    return strategy.pp > 1 && schedule_row(strategy.schedule()).layout == ChunkLayout::bidirectional;
}
template <class N> void compose_pipeline(Frame<N>& f, N const& both_ends, Parts<N>& parts) {
    auto const work = pipeline_work(f);
    N const slowest =
        f.record.term("slowest_stage_seconds", "s",
                      f.with_ahead(f.layers * f.block + f.ends + f.ends_tensor + f.ends_experts, f.ends_ahead));
    N const all = f.record.term("all_stages_seconds", "s", f.in("layers", f.stage.model_layers) * f.block + both_ends);
    N const others_accumulate = f.in("others_accumulate_seconds", (f.strategy.pp - 1.0) * f.accumulation);
    bool const in_turn = !work.schedule.splits_backward && !work.schedule.asynchronous &&
                         work.schedule.layout == ChunkLayout::loop; // 1F1B, interleaved, GPipe
    double const seconds = f.hop.base();
    if (work.schedule.asynchronous) { return; } // `compose_windows`
    if (work.schedule.id == PipelineSchedule::one_f_one_b) {
        auto const waits = one_f_one_b_waits(f, seconds);
        parts.bubble = f.in("schedule_wait_seconds", waits.bubble);
        parts.pipeline = f.record.term("pipeline_seconds", "s", f.in("transfer_wait_seconds", waits.transfers));
        return;
    }
    if (!work.places.empty()) {
        return compose_rows(f, run_of_rows(work, seconds, f.strategy.overlap == Overlap::off), parts);
    }
    parts.bubble = f.record.term("stages_wait_seconds", "s",
                                 in_turn && work.places.empty()
                                     ? (all - slowest + others_accumulate) / f.in("chunks_per_stage", work.chunks)
                                     : f.in("schedule_wait_seconds", pipeline_bubble_seconds(work)));
    auto const hops = pipeline_hops(work, seconds, f.strategy.overlap == Overlap::off);
    N const hop = f.in("hop_seconds", seconds);
    N const spare = f.in("micro_batches_that_spare", hops.spare) * (slowest - all / f.in("stages", f.strategy.pp));
    parts.pipeline = f.record.term("pipeline_seconds", "s",
                                   f.in("hops_that_fill_and_drain", hops.filling) * hop +
                                       larger(f.in("hops_in_between", hops.steady) * hop - spare, literal<N>(0.0)));
}

template <class N> void compose_windows(Frame<N>& f, Parts<N>& parts) {
    double const m = f.micro_batch_count, hop = f.hop.base();
    auto const place = f.stage.place;
    double wait = 0.0;
    if (f.strategy.overlap == Overlap::off) {
        wait = (place == StagePlace::middle ? 2.0 : 1.0) * m * hop;
    } else {
        StageGroups all = f.stage.stages;
        double const late = f.accumulation + f.slowed_passes / m; // of every stage alike
        double const passes = (value_of(parts.compute) + value_of(parts.host) + value_of(parts.tensor) +
                               value_of(parts.context) + value_of(parts.experts)) /
                                  m +
                              late;
        double const update = (value_of(parts.data) + value_of(parts.optimizer) + value_of(parts.offload)) / m;
        double const between = std::max(0.0, update - late);
        for (EqualStages& group : all.groups()) { group.time += late; }
        auto const begin = place == StagePlace::first  ? WindowBegin::first
                           : place == StagePlace::last ? WindowBegin::last
                                                       : WindowBegin::between;
        wait = m * std::max(0.0, window_period(all.groups(), begin, between, hop) - passes - between);
    }
    parts.pipeline = f.record.term("pipeline_seconds", "s", f.in("transfer_wait_seconds", wait));
}

template void compose_windows(Frame<double>& f, Parts<double>& parts);
template void compose_windows(Frame<Traced>& f, Parts<Traced>& parts);
template void compose_pipeline(Frame<double>& f, double const& both_ends, Parts<double>& parts);
template void compose_pipeline(Frame<Traced>& f, Traced const& both_ends, Parts<Traced>& parts);

} // namespace headroom::training
