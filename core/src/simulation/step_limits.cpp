#include "step_data.hpp"
#include "training/traffic.hpp"

#include "headroom/placement.hpp"
#include "headroom/simulated_step.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headroom {
namespace {

using namespace simulation;

/// Shares of a step from which a disagreement is told, and of a pass from which the host counts as about as fast.
constexpr double told = 0.006, host_is_close = 0.7, host_share = 0.02;

double seconds_of(Ticks ticks) { return static_cast<double>(ticks) * 1e-12; }

/// What the conditions read: every chunk's passes as they are placed, and the step as the closed form has it.
struct Inputs {
    StepSetting const& setting;
    Strategy const& strategy;
    LayerCosts const& costs;
    StepLayout layout;
    BlockOrder order;
    StepUnits units;
    DataRules rules;
    StageTraffic traffic; ///< of the first stage
    StepTime time;
    std::vector<double> chunk; ///< seconds of all passes of a chunk for one micro-batch, by place
    double step = 0.0;

    Inputs(StepSetting const& s, Strategy const& strategy_, LayerCosts const& costs_)
        : setting{s},
          strategy{strategy_},
          costs{costs_},
          layout{step_layout(s, strategy_)},
          order{block_order(s, strategy_)},
          units{step_units(s, strategy_, costs_, order, StepDetail::block)},
          rules{data_rules(s, strategy_)},
          traffic{stage_traffic(s, strategy_, layout, 0)},
          time{step_time(s, strategy_, costs_)},
          step{time.total().base()} {
        for (ChunkWork const& work : layout.chunks) {
            chunk.push_back(pass(work, PassKind::forward) + pass(work, PassKind::backward));
        }
    }

    [[nodiscard]] double pass(ChunkWork const& work, PassKind kind) const {
        Ticks all = 0;
        for (Unit const* unit : units_of(work, order, units)) {
            all += std::max((*unit)[kind].chip(), (*unit)[kind].host());
        }
        return seconds_of(all);
    }
    [[nodiscard]] double stage(int s) const {
        double sum = 0.0;
        for (int c = 0; c < layout.shape.chunks; ++c) {
            sum += chunk[static_cast<std::size_t>(s * layout.shape.chunks + c)];
        }
        return layout.layout == ChunkLayout::bidirectional ? sum / 2.0 : sum;
    }
    [[nodiscard]] std::vector<double> stages() const {
        std::vector<double> all;
        for (int s = 0; s < layout.shape.stages; ++s) { all.push_back(stage(s)); }
        return all;
    }
    [[nodiscard]] double micro_batches() const { return micro_batch_count(strategy, setting.workload); }
    [[nodiscard]] bool matters(double seconds) const { return std::abs(seconds) > told * step; }
    [[nodiscard]] bool in_turn() const {
        auto const& row = schedule_row(strategy.schedule());
        return !row.splits_backward && !row.asynchronous && row.layout == ChunkLayout::loop && layout.shape.chunks == 1;
    }
};

/// Passes that the host issues about as fast as the chip runs them, or slower.
bool host_is_close_to_chip(Inputs const& in) {
    double close = 0.0, all = 0.0;
    for (ChunkWork const& work : in.layout.chunks) {
        for (Unit const* unit : units_of(work, in.order, in.units)) {
            for (PassKind const kind : {PassKind::forward, PassKind::backward}) {
                auto const& pass = (*unit)[kind];
                auto const chip = seconds_of(pass.chip()), host = seconds_of(pass.host());
                all += std::max(chip, host);
                if (host > host_is_close * chip) { close += std::max(chip, host); }
            }
        }
    }
    return close > host_share * all;
}

/// How long the slowest stage works, by the blocks that it has and as the closed form takes it.
double slowest_by_mean_block(Inputs const& in) {
    auto const stage = slowest_stage(in.setting, in.strategy, in.costs);
    return (in.costs.block.total() * stage.layers + in.costs.embedding.total() * stage.embedding +
            in.costs.head.total() * stage.head)
        .base();
}

bool kinds_are_uneven(Inputs const& in) {
    if (in.layout.shape.stages == 1) { return false; }
    auto const stages = in.stages();
    return in.matters(in.micro_batches() * (*std::ranges::max_element(stages) - slowest_by_mean_block(in)));
}

/// 1F1B on stages that differ so much that their length is not known to a percent.
bool stages_are_far_apart(Inputs const& in) {
    if (in.layout.shape.stages == 1 || in.strategy.schedule() != PipelineSchedule::one_f_one_b) { return false; }
    auto const stages = in.stages();
    auto const slowest = std::ranges::max_element(stages);
    double behind = 0.0;
    for (auto later = slowest; later != stages.end(); ++later) { behind += *slowest - *later; }
    return *std::ranges::min_element(stages) < *slowest * 2.0 / 3.0 && in.matters(0.1 * behind);
}

/// Chunks that are not alike where each stage has several, or splits its backward passes.
bool chunks_are_uneven(Inputs const& in) {
    if (in.layout.shape.stages == 1 || in.in_turn()) { return false; }
    double const most = *std::ranges::max_element(in.chunk);
    double const mean = std::accumulate(in.chunk.begin(), in.chunk.end(), 0.0) / static_cast<double>(in.chunk.size());
    // interleaved: less than four times as much over the plans that were tried; others: once a stage
    bool const turns = in.strategy.schedule() == PipelineSchedule::interleaved;
    return in.matters((turns ? 4.0 : in.layout.shape.stages) * (most - mean));
}

Ticks sum_of(StageTraffic const& traffic, Ticks UnitTraffic::*part) {
    Ticks all = 0;
    for (auto const& chunk : traffic.units) {
        for (UnitTraffic const& unit : chunk) { all += unit.*part; }
    }
    return all;
}

/// Time of what leaves the domain beside gradients and weights, in a step of one rank.
double leaving_traffic(Inputs const& in) {
    auto const placement = place(in.strategy, in.setting.cluster.domain);
    auto const& block = in.costs.block;
    double const visits = in.micro_batches() * depth_of(in.setting.model) / in.strategy.pp;
    double all = 0.0;
    if (placement.tensor.domains() > 1) { all += visits * block.tensor.base(); }
    if (placement.context.domains() > 1) { all += visits * block.context.base(); }
    if (placement.experts.domains() > 1) { all += visits * block.experts.base(); }
    if (placement.pipeline_leaves_domain) {
        double const hop =
            hop_time(in.setting, in.strategy, calibrated_fabric(in.setting.cluster, in.setting.constants)).base();
        all += 2.0 * in.micro_batches() * in.layout.shape.chunks * hop;
    }
    return all;
}

/// Data-parallel traffic that has the adapter in common with other traffic, and meets it.
bool adapter_is_shared(Inputs const& in) {
    auto const placement = place(in.strategy, in.setting.cluster.domain);
    // both ways out of a stage
    if (placement.pipeline_leaves_domain && in.matters(0.12 * in.time.pipeline_communication.base())) { return true; }
    if (placement.data.domains() == 1) { return false; }
    double const reductions = reductions_per_step(in.strategy, in.setting.framework, in.micro_batches());
    double const gathers = in.rules.sharded ? reductions * (1.0 + in.rules.backward_gathers) : 1.0;
    double const data = reductions * seconds_of(sum_of(in.traffic, &UnitTraffic::reduce)) +
                        gathers * seconds_of(sum_of(in.traffic, &UnitTraffic::gather));
    double const others = leaving_traffic(in);
    // in a pipeline the last pass of every stage meets the reduction of its gradients
    double const last_passes = in.layout.shape.stages * std::min(data, others / in.micro_batches()) / 4.0;
    return in.matters(data * std::min(1.0, others / in.step)) ||
           (in.layout.shape.stages > 1 && in.matters(last_passes * 0.4));
}

/// ZeRO 2: gradients that are reduced after every micro-batch, and take about as long as its backward pass.
bool reductions_fill_every_pass(Inputs const& in) {
    if (in.strategy.zero != 2 || in.rules.in_the_way) { return false; }
    double const reduce = seconds_of(sum_of(in.traffic, &UnitTraffic::reduce));
    return reduce > 0.6 * in.pass(in.layout.chunks.front(), PassKind::backward);
}

/// Data-parallel traffic of the first stage, which the step waits for, against that of the fullest.
bool first_stage_is_not_the_fullest(Inputs const& in) {
    if (in.layout.shape.stages == 1) { return false; }
    auto const fullest =
        data_traffic(in.setting, in.strategy, calibrated_fabric(in.setting.cluster, in.setting.constants));
    double const mine = seconds_of(sum_of(in.traffic, &UnitTraffic::reduce) + sum_of(in.traffic, &UnitTraffic::gather) +
                                   in.traffic.blocking);
    double const theirs = (fullest.reduce() + fullest.gather() + fullest.blocking).base();
    double const held = fullest.dense.parameters_held + fullest.experts.parameters_held;
    double const first = stage_parameters(in.setting, in.strategy,
                                          StageShare{.blocks = static_cast<double>(in.layout.blocks_of(0)),
                                                     .first = true,
                                                     .last = in.layout.layout == ChunkLayout::v})
                             .all();
    double const optimizer = in.time.optimizer.base() * (held > 0.0 ? 1.0 - first / held : 0.0);
    double const shown = theirs > 0.0 ? in.time.data_communication.base() * (1.0 - mine / theirs) : 0.0;
    return in.matters(0.7 * (shown + optimizer));
}

/// Split backward passes: what hid behind gradients of weights has only those of inputs to hide behind.
bool halves_hide_less(Inputs const& in) {
    if (in.layout.shape.stages == 1 || !schedule_row(in.strategy.schedule()).splits_backward) { return false; }
    double more = 0.0;
    for (ChunkWork const& work : in.layout.chunks) {
        more = std::max(more, in.pass(work, PassKind::input_gradient) + in.pass(work, PassKind::weight_gradient) -
                                  in.pass(work, PassKind::backward));
    }
    return in.matters(more * in.layout.shape.chunks * in.micro_batches());
}

/// Interleaved: reductions of early chunks slow every stage while others still work.
bool chunks_reduce_in_turn(Inputs const& in) {
    if (in.layout.shape.stages == 1 || in.strategy.schedule() == PipelineSchedule::one_f_one_b ||
        in.strategy.schedule() == PipelineSchedule::gpipe) {
        return false;
    }
    return in.matters(in.rules.slowdown * seconds_of(sum_of(in.traffic, &UnitTraffic::reduce)));
}

bool offloads(Inputs const& in) { return in.strategy.offload != Offload::none; }

bool runs_without_flush(Inputs const& in) {
    return in.strategy.pp > 1 && schedule_row(in.strategy.schedule()).asynchronous;
}

bool frozen_blocks_come_first(Inputs const& in) {
    return in.strategy.trained == Trained::last_layers && in.strategy.trained_layers < in.setting.model.layers;
}

/// ZeRO 3: traffic that fits the step but not the pass that it has to hide behind.
bool sharded_traffic_outlasts_a_pass(Inputs const& in) {
    if (!in.rules.sharded || in.rules.in_the_way) { return false; }
    auto const& work = in.layout.chunks.front();
    double const gather = seconds_of(sum_of(in.traffic, &UnitTraffic::gather));
    double const reduce = seconds_of(sum_of(in.traffic, &UnitTraffic::reduce));
    double const rate = 0.75 * (1.0 - in.rules.slowdown);
    auto const& units = in.traffic.units.front();
    // nothing is there for the first gathering and the last reduction to run behind
    if (in.matters(seconds_of(units.front().gather + units.front().reduce))) { return true; }
    double const forward = in.pass(work, PassKind::forward), backward = in.pass(work, PassKind::backward);
    if (in.matters(0.12 * in.time.data_communication.base())) { return true; }
    return gather > rate * forward || in.rules.backward_gathers * gather + reduce > rate * backward;
}

struct Condition {
    ClosedFormLimit limit;
    bool (*holds)(Inputs const&);
};

constexpr std::array conditions{
    Condition{{"host about as fast",
               "passes that the host issues about as fast as the chip runs them: the closed form "
               "rounds the larger of the two up and evens them out over passes; the host runs ahead "
               "while a stage waits"},
              host_is_close_to_chip},
    Condition{
        {"kinds of block unevenly placed", "stages have their own mix of blocks; the closed form gives each the mean"},
        kinds_are_uneven},
    Condition{{"stages far apart",
               "how long 1F1B takes is known to a percent where no stage is shorter than two thirds of "
               "the longest"},
              stages_are_far_apart},
    Condition{{"uneven chunks",
               "the waits of schedules with several chunks or split backward passes are known for equal "
               "stages"},
              chunks_are_uneven},
    Condition{{"shared adapter",
               "gradients or weights and other traffic leave the node by one adapter at once; the closed "
               "form gives each the whole of it"},
              adapter_is_shared},
    Condition{{"sharded traffic outlasts a pass",
               "gathers and reductions of ZeRO 3 fit the step, not the pass that they "
               "run behind"},
              sharded_traffic_outlasts_a_pass},
    Condition{{"gradients of every micro-batch",
               "reductions of ZeRO 2 that take about as long as a backward pass queue up "
               "behind one another"},
              reductions_fill_every_pass},
    Condition{{"fullest stage is not the first",
               "the closed form reduces, gathers and updates what the fullest stage holds; "
               "a pipeline drains towards the first, and the step ends with its own"},
              first_stage_is_not_the_fullest},
    Condition{{"chunks reduce in turn",
               "gradients of some chunks are reduced while others are still worked on, on every "
               "stage at its own time"},
              chunks_reduce_in_turn},
    Condition{{"halves hide less",
               "collectives that hide behind a whole backward pass outlast its half that makes gradients "
               "of inputs"},
              halves_hide_less},
    Condition{{"offload", "copies to the host wait for the block that makes what they move; the closed form hides them "
                          "behind the whole step"},
              offloads},
    Condition{{"no flush", "steps run into each other; one alone is simulated"}, runs_without_flush},
    Condition{{"frozen blocks first",
               "blocks without a backward pass are the first ones; the closed form spreads them over "
               "all stages"},
              frozen_blocks_come_first},
};

} // namespace

std::vector<ClosedFormLimit> closed_form_limits(StepSetting const& setting, Strategy const& strategy,
                                                LayerCosts const& costs) {
    Inputs const in{setting, strategy, costs};
    std::vector<ClosedFormLimit> limits;
    for (Condition const& condition : conditions) {
        if (condition.holds(in)) { limits.push_back(condition.limit); }
    }
    return limits;
}

} // namespace headroom
