#include "step_limit_inputs.hpp"

#include "training/pipeline/run_beside.hpp"
#include "training/visits/stage_visits.hpp"

#include "headroom/training/placement.hpp"

#include <cmath>
#include <utility>

namespace headroom::training::simulation {

Ticks sum_of(StageTraffic const& traffic, Ticks UnitTraffic::*part) {
    Ticks all = 0;
    for (auto const& chunk : traffic.units) {
        for (UnitTraffic const& unit : chunk) { all += unit.*part; }
    }
    return all;
}

/// All gradients and weights that the first stage sends in a step.
double data_of_step(Inputs const& in) {
    double const reductions = reductions_per_step(in.strategy, in.setting.framework, in.micro_batches());
    double const gathers = in.rules.sharded ? reductions * (1.0 + in.rules.backward_gathers)
                                            : updates_per_step(in.strategy, in.micro_batches());
    return reductions * seconds_of(sum_of(in.traffic, &UnitTraffic::reduce)) +
           gathers * seconds_of(sum_of(in.traffic, &UnitTraffic::gather));
}

bool data_leaves(Inputs const& in) { return place(in.strategy, in.setting.cluster.domain).data.domains() > 1; }

namespace {

constexpr std::int64_t most_rows_run = 1 << 20; ///< passes

/// A step of the closed form without what it adds for disturbances and copies.
double of_rows(StepTime const& time) {
    return (time.total() - time.imbalance - time.stragglers - time.overhead - time.offload).base();
}

/// What one chunk sends, and when: what hides behind nothing stands before the first pass and behind the last one.
ChunkTraffic chunk_traffic(Inputs const& in, StageTraffic const& stage, std::size_t chunk, bool embedding) {
    ChunkTraffic sent;
    double elements = 0.0;
    for (UnitTraffic const& unit : stage.units[chunk]) {
        sent.gather += static_cast<double>(unit.gather);
        sent.reduce += static_cast<double>(unit.reduce);
        elements += unit.elements;
    }
    double const table = embedding ? stage.units[chunk].front().elements : 0.0;
    sent.late = std::min(1.0, (table + bucket_elements) / std::max(1.0, elements));
    double const shown = in.rules.in_the_way ? 1.0 : in.rules.shown;
    sent.before = shown * sent.gather, sent.after = shown * sent.reduce;
    sent.gather -= sent.before, sent.reduce -= sent.after;
    if (chunk == 0) {
        sent.after += static_cast<double>(stage.blocking);
        sent.update = static_cast<double>(stage.update);
    }
    return sent;
}

TrafficBeside traffic_beside(Inputs const& in) {
    TrafficBeside beside;
    auto const& block = in.costs.block;
    auto const times = block_times(in.setting, in.strategy, block);
    double const all = times.total.base();
    auto const placement = place(in.strategy, in.setting.cluster.domain);
    auto const use = adapter_use(placement, block);
    auto const idle = host_idle(in.setting, in.strategy, block, times);
    beside.loss = in.rules.slowdown;
    if (all > 0.0) {
        beside.kernels = (block.gemm + block.attention + block.memory).base() / all;
        beside.adapter = use.shown / all;
        beside.longer = 1.0 / std::max(0.5, 1.0 - (beside.adapter + use.hidden / all) / (1.0 + beside.adapter));
    }
    beside.idle_forward = idle.forward, beside.idle_backward = idle.backward;
    beside.transfers = placement.pipeline_leaves_domain && data_leaves(in);
    for (int stage = 0; stage < in.layout.shape.stages; ++stage) {
        auto const traffic = stage_traffic(in.setting, in.strategy, in.layout, stage);
        for (int chunk = 0; chunk < in.layout.shape.chunks; ++chunk) {
            beside.chunks.push_back(
                chunk_traffic(in, traffic, static_cast<std::size_t>(chunk), in.layout.at(stage, chunk).embedding));
        }
    }
    return beside;
}

AdapterUsers adapter_users(Inputs const& in) {
    auto const placement = place(in.strategy, in.setting.cluster.domain);
    return {
        .groups = {placement.tensor.domains() > 1, placement.context.domains() > 1, placement.experts.domains() > 1},
        .data = placement.data.domains() > 1,
        .transfers = placement.pipeline_leaves_domain};
}

} // namespace

void Inputs::run_rows() {
    if (!pipeline() || runs_without_flush(strategy)) { return; }
    auto const& shape = layout.shape;
    auto const& row = schedule_row(strategy.schedule());
    bool const too_many = std::int64_t{3} * shape.stages * shape.chunks * shape.micro_batches > most_rows_run;
    if (too_many || !impossible_because(row.id, shape).empty()) {
        rows.differ = step;
        return;
    }
    auto const order = row.order(shape);
    auto const times = pipeline_times(setting, strategy, costs);
    auto const length = [&](TrafficBeside const& beside) {
        auto const run = run_beside(order, times, beside);
        return seconds_of(row.validates_late ? run.longest : run.end);
    };
    bool const copies_state = offloads_optimizer(strategy.offload) && !offloads_activations(strategy.offload);
    std::vector<StageTraffic> sent;
    for (int stage = 0; stage < shape.stages; ++stage) {
        sent.push_back(stage_traffic(setting, strategy, layout, stage));
    }
    auto const operations = step_units(setting, strategy, costs, this->order, StepDetail::operation);
    StageVisits visits{{.order = order,
                        .layout = layout,
                        .blocks = this->order,
                        .units = operations,
                        .traffic = sent,
                        .rules = rules,
                        .users = adapter_users(*this),
                        .state_with_host = copies_state,
                        .blocking = times.blocking}};
    auto const run = run_beside(order, times, visits);
    double const closed = of_rows(time) + (copies_state ? time.offload.base() : 0.0);
    rows.differ = seconds_of(row.validates_late ? run.longest : run.end) - closed;
    auto beside = traffic_beside(*this);
    double const all = length(beside);
    beside.adapter = 0.0, beside.longer = 1.0, beside.transfers = false;
    rows.adapter = all - length(beside);
    beside.loss = beside.idle_forward = beside.idle_backward = 0.0;
    rows.traffic = all - length(beside);
}

double rows_differ(Inputs const& in) { return std::abs(in.rows.differ); }

double rows_are_not_run(Inputs const& in) {
    bool const partly = runs_without_flush(in.strategy) || offloads_activations(in.strategy.offload);
    return in.pipeline() && partly ? in.step : 0.0;
}

double blocks_differ(Inputs const& in) {
    if (in.pipeline()) { return 0.0; }
    // kinds of block of which a host that waits is slower are late by themselves, which ZeRO 3 has elsewhere
    bool const late = host_waits(in.setting.model, in.strategy) && in.strategy.zero < 3;
    double sum = 0.0;
    for (Unit const* unit : units_of(in.layout.chunks.front(), in.order, in.units)) {
        for (PassKind const kind : {PassKind::forward, PassKind::backward}) {
            UnitPass const& pass = (*unit)[kind];
            sum += seconds_of(late ? std::max(pass.chip(), pass.host()) : pass.chip());
        }
    }
    Seconds const blocks = block_times(in.setting, in.strategy, in.costs.block).total * depth_of(in.setting.model);
    double const closed = (blocks + in.costs.embedding.total() + in.costs.head.total()).base();
    return in.micro_batches() * std::abs(sum - closed);
}

} // namespace headroom::training::simulation
