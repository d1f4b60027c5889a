#include "step_data.hpp"
#include "training/step_frame.hpp"
#include "training/traffic.hpp"

#include "headroom/placement.hpp"
#include "headroom/simulated_step.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headroom {
namespace {

using namespace simulation;

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
        Ticks chip = 0, host = 0;
        for (Unit const* unit : units_of(work, order, units)) {
            chip += (*unit)[kind].chip(), host += (*unit)[kind].host();
        }
        return seconds_of(std::max(chip, host));
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
    [[nodiscard]] bool pipeline() const { return layout.shape.stages > 1; }
    [[nodiscard]] bool interleaved() const {
        return pipeline() && strategy.schedule() == PipelineSchedule::interleaved;
    }
    /// What exposed collectives take of a block.
    [[nodiscard]] double exposed_share() const {
        auto const& block = costs.block;
        return block.total().base() > 0.0
                   ? (block.tensor_exposed + block.context_exposed + block.experts_exposed) / block.total()
                   : 0.0;
    }
    /// What exposed collectives that leave by the adapter of gradients take of a block.
    [[nodiscard]] double leaving_share() const {
        auto const& block = costs.block;
        auto const placement = place(strategy, setting.cluster.domain);
        if (placement.data.domains() == 1 || block.total().base() <= 0.0) { return 0.0; }
        Seconds leaving;
        if (placement.tensor.domains() > 1) { leaving += block.tensor_exposed; }
        if (placement.context.domains() > 1) { leaving += block.context_exposed; }
        if (placement.experts.domains() > 1) { leaving += block.experts_exposed; }
        return leaving / block.total();
    }
};

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

// Each of these is a part of the step about which the two may disagree, in seconds. Above which share of the step they do
// by more than a percent was read off 10,000 plans.

/// How long the slowest stage works, by the blocks that it has and as the closed form takes it.
double slowest_by_mean_block(Inputs const& in) {
    auto const stage = slowest_stage(in.setting, in.strategy, in.costs);
    return (in.costs.block.total() * stage.layers + in.costs.embedding.total() * stage.embedding +
            in.costs.head.total() * stage.head)
        .base();
}

double kinds_are_uneven(Inputs const& in) {
    if (!in.pipeline()) { return 0.0; }
    auto const stages = in.stages();
    return in.micro_batches() * std::abs(*std::ranges::max_element(stages) - slowest_by_mean_block(in));
}

/// Interleaved: by how much all other stages are faster than the slowest, once.
double turns_are_uneven(Inputs const& in) {
    if (!in.interleaved()) { return 0.0; }
    auto const stages = in.stages();
    double const mean = std::accumulate(stages.begin(), stages.end(), 0.0) / static_cast<double>(stages.size());
    return (*std::ranges::max_element(stages) - mean) * in.layout.shape.stages;
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

bool data_leaves(Inputs const& in) { return place(in.strategy, in.setting.cluster.domain).data.domains() > 1; }

/// Data-parallel traffic that has the adapter in common with other traffic, in so far as they meet.
double adapter_is_shared(Inputs const& in) {
    if (!data_leaves(in)) { return 0.0; }
    double const data = data_of_step(in), others = leaving_traffic(in);
    return std::min(data, others) * std::min(1.0, std::max(data, others) / in.step);
}

/// The same of the last passes of the stages, one after the other.
double adapter_is_shared_at_the_end(Inputs const& in) {
    if (!in.pipeline() || !data_leaves(in)) { return 0.0; }
    return in.layout.shape.stages * std::min(data_of_step(in), leaving_traffic(in) / in.micro_batches());
}

/// Keys and tokens that leave the node at once, hidden behind the same attention.
double keys_and_tokens_share_the_adapter(Inputs const& in) {
    auto const placement = place(in.strategy, in.setting.cluster.domain);
    bool const both = placement.context.domains() > 1 && placement.experts.domains() > 1;
    return both ? leaving_traffic(in) : 0.0;
}

double transfers_leave(Inputs const& in) {
    return place(in.strategy, in.setting.cluster.domain).pipeline_leaves_domain ? in.time.pipeline_communication.base()
                                                                                : 0.0;
}

/// What kernels lose to gradients and weights that may run beside exposed collectives instead.
double slowdown_beside_collectives(Inputs const& in) {
    double const share = in.rules.sharded ? in.exposed_share() : in.leaving_share();
    if (in.rules.sharded || in.strategy.zero == 2) { return in.rules.slowdown * share * data_of_step(in); }
    double const collectives = share * in.pass(in.layout.chunks.front(), PassKind::backward);
    return in.rules.slowdown * std::min(seconds_of(sum_of(in.traffic, &UnitTraffic::reduce)), collectives);
}
double slowdown_of_shards(Inputs const& in) { return in.rules.sharded ? slowdown_beside_collectives(in) : 0.0; }
double slowdown_of_gradients(Inputs const& in) {
    return !in.rules.sharded && in.strategy.zero == 2 ? slowdown_beside_collectives(in) : 0.0;
}
double slowdown_of_last_pass(Inputs const& in) {
    return !in.pipeline() && in.strategy.zero < 2 ? slowdown_beside_collectives(in) : 0.0;
}
double slowdown_of_last_passes(Inputs const& in) {
    return in.pipeline() ? in.layout.shape.stages * slowdown_beside_collectives(in) : 0.0;
}

/// Data-parallel traffic and update of the first stage, which the step waits for, against those of the fullest.
double first_stage_is_not_the_fullest(Inputs const& in) {
    if (!in.pipeline() || runs_without_flush(in.strategy)) { return 0.0; } // each stage with its own
    auto const placed = placed_traffic(in.setting, in.strategy);
    auto const first = first_stage_ends(in.setting, in.strategy, in.costs, placed);
    auto const fullest = first ? *first : placed.data;
    double const mine = seconds_of(sum_of(in.traffic, &UnitTraffic::reduce) + sum_of(in.traffic, &UnitTraffic::gather));
    double const theirs = (fullest.reduce() + fullest.gather()).base();
    if (theirs <= 0.0) { return 0.0; }
    return (in.time.data_communication + in.time.optimizer).base() * std::abs(1.0 - mine / theirs);
}

/// Stages that send unlike amounts, each beside passes of its own.
double stages_send_unlike_amounts(Inputs const& in) {
    if (!drains_in_turn(in.strategy) || in.layout.shape.chunks > 1) { return 0.0; }
    auto const first = stage_parameters(in.setting, in.strategy, StagePlace::first);
    bool const unlike = fullest_stage_parameters(in.setting, in.strategy).all() > 1.001 * first.all();
    return unlike ? in.time.data_communication.base() : 0.0;
}

/// Split backward passes: what hid behind gradients of weights has only those of inputs to hide behind.
double halves_hide_less(Inputs const& in) {
    if (!in.pipeline() || !schedule_row(in.strategy.schedule()).splits_backward) { return 0.0; }
    double more = 0.0;
    for (ChunkWork const& work : in.layout.chunks) {
        more = std::max(more, in.pass(work, PassKind::input_gradient) + in.pass(work, PassKind::weight_gradient) -
                                  in.pass(work, PassKind::backward));
    }
    return more * in.layout.shape.chunks * in.micro_batches();
}

/// Several chunks that reduce in turn while others of their stage work, and have the adapter in common with those.
double chunks_share_the_adapter(Inputs const& in) {
    if (!in.interleaved() || !data_leaves(in)) { return 0.0; }
    return data_of_step(in) * std::min(1.0, leaving_traffic(in) / in.step);
}

/// What several chunks show of their traffic: each stage is slowed by its own at its own time.
double chunks_show_traffic(Inputs const& in) { return in.interleaved() ? in.time.data_communication.base() : 0.0; }

/// What stages show of their copies: each has its own to wait for.
double stages_show_copies(Inputs const& in) { return in.pipeline() ? in.time.offload.base() : 0.0; }

/// What copies to and from the host show, where activations are among them.
double shown_activations(Inputs const& in) {
    if (!offloads_activations(in.strategy.offload)) { return 0.0; }
    return (in.time.offload - host_traffic(in.setting, in.strategy).update).base();
}

bool passes_are_whole(Inputs const& in) {
    auto const& row = schedule_row(in.strategy.schedule());
    return !row.splits_backward && row.layout == ChunkLayout::loop;
}

double copies_of_stages(Inputs const& in) {
    return in.pipeline() && passes_are_whole(in) && in.layout.shape.chunks == 1 ? shown_activations(in) : 0.0;
}
double copies_of_chunks(Inputs const& in) {
    return in.pipeline() && passes_are_whole(in) && in.layout.shape.chunks > 1 ? shown_activations(in) : 0.0;
}
/// Split passes and two parts of a model a stage: every copy counts.
double copies_of_halves(Inputs const& in) {
    if (!in.pipeline() || passes_are_whole(in)) { return 0.0; }
    return host_traffic(in.setting, in.strategy).activation_transfer.base();
}

/// State of several chunks, which goes and comes between passes of others.
double state_of_chunks(Inputs const& in) {
    bool const several = in.pipeline() && in.layout.shape.chunks > 1;
    return several ? host_traffic(in.setting, in.strategy).optimizer_transfer.base() : 0.0;
}

/// Copies of the last micro-batch, which data-parallel traffic hides too.
double copies_beside_gradients(Inputs const& in) {
    if (in.pipeline() || in.rules.sharded) { return 0.0; }
    return std::min(shown_activations(in) / in.micro_batches(), in.time.data_communication.base());
}

/// Blocks without a backward pass: what is sent, added up and copied is that of a few.
double few_blocks_are_trained(Inputs const& in) { return !in.pipeline() && in.costs.frozen_blocks > 0 ? in.step : 0.0; }

/// Copies that show while the host is late: each gives the other time.
double copies_beside_a_late_host(Inputs const& in) { return std::min(in.time.offload.base(), in.time.host.base()); }

/// Split passes whose stages reduce and update at their own times.
double halves_show_traffic(Inputs const& in) {
    bool const splits = in.pipeline() && schedule_row(in.strategy.schedule()).splits_backward;
    return splits ? in.time.data_communication.base() : 0.0;
}
double compresses_stage_by_stage(Inputs const& in) {
    return in.pipeline() && in.strategy.compression.kind != Compression::none ? in.step : 0.0;
}

/// Without a flush gradients and weights of every micro-batch meet what else leaves by their adapter.
double meets_every_micro_batch(Inputs const& in) {
    if (!runs_without_flush(in.strategy) || !data_leaves(in)) { return 0.0; }
    return std::min(data_of_step(in), leaving_traffic(in));
}

struct Condition {
    ClosedFormLimit limit;
    double (*seconds)(Inputs const&);
    double share; ///< of the step, above which the limit holds
};

constexpr ClosedFormLimit uneven_kinds{"kinds of block unevenly placed",
                                       "stages have their own mix of blocks; the closed form gives each the mean"};
constexpr ClosedFormLimit uneven_chunks{"uneven chunks",
                                        "the waits of interleaved schedules are known for equal stages and chunks"};
constexpr ClosedFormLimit shared_adapter{
    "shared adapter", "gradients or weights and other traffic leave the node by one adapter at once; "
                      "the closed form has them meet in proportion to their times"};
constexpr ClosedFormLimit long_transfers{
    "long transfers", "transfers between stages that differ show where the faster ones cannot make up "
                      "for them, and both ways out of a stage share its adapter"};
constexpr ClosedFormLimit beside_collectives{
    "slowed beside collectives",
    "gradients and weights slow kernels alone; where collectives that leave by their adapter make both longer, or "
    "blocks are gathered one by one, what they run beside is known roughly"};
constexpr ClosedFormLimit in_turn{
    "chunks reduce in turn", "gradients of some chunks are reduced while others are still worked on, and share their "
                             "adapter with what those send; every stage is slowed at its own time"};
constexpr ClosedFormLimit offloaded{
    "offload", "activations that take longer to and from the host than blocks take make stages wait, each at its own "
               "time; what gradients show beside them hides a part of it"};

constexpr ClosedFormLimit not_the_fullest{"fullest stage is not the first",
                                          "a pipeline drains towards the first stage, and the step ends with its "
                                          "gradients and update or with those of a fuller "
                                          "one; the closed form takes either for all"};

constexpr std::array conditions{
    Condition{uneven_kinds, kinds_are_uneven, 0.009},
    Condition{uneven_chunks, turns_are_uneven, 0.007},
    Condition{shared_adapter, adapter_is_shared, 0.03},
    Condition{shared_adapter, adapter_is_shared_at_the_end, 0.05},
    Condition{long_transfers, transfers_leave, 0.02},
    Condition{beside_collectives, slowdown_of_shards, 0.02},
    Condition{beside_collectives, slowdown_of_gradients, 0.0016},
    Condition{beside_collectives, slowdown_of_last_pass, 0.02},
    Condition{beside_collectives, slowdown_of_last_passes, 0.0065},
    Condition{not_the_fullest, first_stage_is_not_the_fullest, 0.009},
    Condition{not_the_fullest, stages_send_unlike_amounts, 0.2},
    Condition{in_turn, chunks_show_traffic, 0.04},
    Condition{offloaded, stages_show_copies, 0.05},
    Condition{shared_adapter, keys_and_tokens_share_the_adapter, 0.25},
    Condition{in_turn, chunks_share_the_adapter, 0.009},
    Condition{{"halves hide less",
               "collectives that hide behind a whole backward pass outlast its half that makes gradients of inputs"},
              halves_hide_less,
              0.011},
    Condition{offloaded, copies_of_stages, 0.01},
    Condition{offloaded, copies_beside_a_late_host, 0.05},
    Condition{{"few blocks trained",
               "of one stage: gradients, copies and recomputation of a few blocks are told by their mean"},
              few_blocks_are_trained,
              0.0},
    Condition{{"halves show traffic", "stages of split passes reduce, gather and update at their own times"},
              halves_show_traffic,
              0.15},
    Condition{offloaded, copies_of_chunks, 0.0005},
    Condition{offloaded, copies_of_halves, 0.02},
    Condition{offloaded, state_of_chunks, 0.02},
    Condition{offloaded, copies_beside_gradients, 0.01},
    Condition{
        {"compressed gradients of a pipeline",
         "every stage compresses its gradients in its last backward pass, before it hands on; the closed form once"},
        compresses_stage_by_stage,
        0.0},
    Condition{{"no flush",
               "gradients and weights of every micro-batch meet what else leaves by their adapter, in every "
               "pass and between passes"},
              meets_every_micro_batch,
              0.01},
};

} // namespace

namespace {

/// Several conditions are of one name.
void add(std::vector<ClosedFormLimit>& limits, ClosedFormLimit const& limit) {
    if (std::ranges::find(limits, limit.name, &ClosedFormLimit::name) == limits.end()) { limits.push_back(limit); }
}

} // namespace

std::vector<ClosedFormLimit> closed_form_limits(StepSetting const& setting, Strategy const& strategy,
                                                LayerCosts const& costs) {
    Inputs const in{setting, strategy, costs};
    std::vector<ClosedFormLimit> limits;
    for (Condition const& condition : conditions) {
        if (condition.seconds(in) > condition.share * in.step) { add(limits, condition.limit); }
    }
    return limits;
}

} // namespace headroom
