#include "step_limit_inputs.hpp"

#include "headroom/placement.hpp"
#include "headroom/simulation_agreement.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom {
namespace {

using namespace simulation;

// Each of these is a part of the step about which the two may disagree, in seconds.

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

/// What stages show of their copies: each has its own to wait for.
double stages_show_copies(Inputs const& in) { return in.pipeline() ? in.time.offload.base() : 0.0; }

/// What copies to and from the host show, where activations are among them.
double shown_activations(Inputs const& in) {
    if (!offloads_activations(in.strategy.offload)) { return 0.0; }
    return (in.time.offload - host_traffic(in.setting, in.strategy).update).base();
}

/// Copies of the last micro-batch, which data-parallel traffic hides too.
double copies_beside_gradients(Inputs const& in) {
    if (in.pipeline() || in.rules.sharded) { return 0.0; }
    return std::min(shown_activations(in) / in.micro_batches(), in.time.data_communication.base());
}

/// Without a flush gradients and weights of every micro-batch meet what else leaves by their adapter.
double meets_every_micro_batch(Inputs const& in) {
    if (!runs_without_flush(in.strategy) || !data_leaves(in)) { return 0.0; }
    return std::min(data_of_step(in), leaving_traffic(in));
}

/// Gradients and weights beside a host that is late: what kernels lose it waits for anyway, but not everywhere alike.
double traffic_beside_a_late_host(Inputs const& in) {
    return std::min(in.time.data_communication.base(), in.time.host.base());
}

/// ZeRO 2: reductions of blocks of which every one has neighbours of another kind, told by their mean.
double kinds_reduce_in_turn(Inputs const& in) {
    auto const& kind = in.order.variant_of;
    int changes = 0;
    for (std::size_t i = 1; i < kind.size(); ++i) { changes += kind[i] != kind[i - 1] ? 1 : 0; }
    return changes > 4 ? in.time.data_communication.base() : 0.0;
}

double copies_beside_shown_traffic(Inputs const& in) {
    return std::min(in.time.offload.base(), in.time.data_communication.base());
}

/// Blocks without a backward pass: what is sent block by block, or beside halves of passes, is that of a few.
double few_blocks_are_trained(Inputs const& in) { return in.costs.frozen_blocks > 0 ? in.step : 0.0; }

double compresses_stage_by_stage(Inputs const& in) {
    return in.pipeline() && in.strategy.compression.kind != Compression::none ? in.step : 0.0;
}

// ---- how much of each part may be wrong ---------------------------------------------------------------------------

/// Plans about which the same is in doubt.
enum class PlanGroup : std::uint8_t {
    whole,         ///< one stage, ZeRO 0 and 1
    reduces_often, ///< one stage, ZeRO 2
    sharded,       ///< one stage, ZeRO 3
    in_turn,       ///< 1F1B and GPipe
    interleaved,
    other_rows, ///< split passes, V's and two directions
    no_flush,
    copies,           ///< one stage with activations or state on the host
    copies_of_stages, ///< the same of a pipeline
    count_,
};

PlanGroup group_of(Inputs const& in) {
    if (in.strategy.offload != Offload::none) {
        return in.pipeline() ? PlanGroup::copies_of_stages : PlanGroup::copies;
    }
    if (!in.pipeline()) {
        return in.strategy.zero < 2    ? PlanGroup::whole
               : in.strategy.zero == 2 ? PlanGroup::reduces_often
                                       : PlanGroup::sharded;
    }
    if (runs_without_flush(in.strategy)) { return PlanGroup::no_flush; }
    if (in.interleaved()) { return PlanGroup::interleaved; }
    return drains_in_turn(in.strategy) ? PlanGroup::in_turn : PlanGroup::other_rows;
}

/// Of the seconds of a part, those by which closed form and simulation may differ for its sake, by group of plans. 1: the part is
/// a difference itself; others were read off random plans.
struct Doubt {
    ClosedFormLimit limit;
    double (*seconds)(Inputs const&);
    std::array<double, static_cast<std::size_t>(PlanGroup::count_)> share;
};

constexpr ClosedFormLimit rows{
    "rows of stages",
    "passes of every stage with its own blocks, transfers, gradients and weights, run row by row, come "
    "to another time than the form for stages of a mean block"};
constexpr ClosedFormLimit blocks{"blocks that differ",
                                 "the passes of all blocks one by one are not those of as many mean blocks"};
constexpr ClosedFormLimit shared_adapter{
    "shared adapter", "gradients or weights and other traffic leave the node by one adapter at once; "
                      "the closed form has them meet in proportion to their times"};
constexpr ClosedFormLimit long_transfers{
    "long transfers",
    "both ways out of a stage share its adapter, and what transfers show shifts all that leaves by it"};
constexpr ClosedFormLimit beside_collectives{
    "slowed beside collectives",
    "gradients and weights slow kernels alone; where collectives that leave by their adapter make both longer, or "
    "blocks are gathered one by one, what they run beside is known roughly"};
constexpr ClosedFormLimit offloaded{
    "offload", "activations that take longer to and from the host than blocks take make stages wait, each at its own "
               "time; what gradients show beside them hides a part of it"};
constexpr ClosedFormLimit late_host{
    "traffic beside a late host",
    "kernels that wait for the host make up for what gradients and weights take of them, where both meet"};
constexpr ClosedFormLimit no_flush{
    "no flush", "gradients and weights of every micro-batch meet what else leaves by their adapter, in every "
                "pass and between passes"};
constexpr ClosedFormLimit few_trained{"few blocks trained",
                                      "gradients, weights and copies of a few blocks are told by their mean"};
constexpr ClosedFormLimit compressed{
    "compressed gradients of a pipeline",
    "every stage compresses its gradients in its last backward pass, before it hands on; the closed form once"};

// clang-format off
constexpr std::array doubts{
    // one stage: ZeRO 0 and 1, 2, 3; 1F1B and GPipe, interleaved, other rows, no flush; copies of one stage, of a pipeline
    Doubt{rows, rows_differ, { 0.0,  0.0,  0.0,  1.0,  1.0,  1.0,  0.0,  0.0,  1.0}},
    Doubt{blocks, blocks_differ, { 1.0,  1.0,  1.0,  0.0,  0.0,  0.0,  0.0,  1.0,  0.0}},
    Doubt{shared_adapter, adapter_is_shared, { 0.4,  0.5,  2.0,  1.0,  0.3,  5.0,  0.0,  0.3,  0.0}},
    Doubt{shared_adapter, adapter_is_shared_at_the_end, { 0.0,  0.0,  0.0,  0.0, 0.05,  0.3,  0.0,  0.0,  0.0}},
    Doubt{shared_adapter, keys_and_tokens_share_the_adapter, {0.02,  0.0,  0.0, 0.02,  0.0,  0.0,  0.0,  0.0,  0.0}},
    Doubt{long_transfers, transfers_leave, { 0.0,  0.0,  0.0,  0.1,  0.7,  0.2,  0.0,  0.0,  0.0}},
    Doubt{beside_collectives, slowdown_beside_collectives, { 0.1,  0.0,  0.2,  0.0,  0.0,  0.0,  0.0,  0.0,  0.0}},
    Doubt{late_host, traffic_beside_a_late_host, { 0.0,  0.2,  0.1,  0.0,  0.2,  0.2,  1.5,  3.0,  0.0}},
    Doubt{{"kinds of block reduce in turn",
           "gradients of blocks whose neighbours are of another kind hide behind longer or shorter passes than the mean one"},
          kinds_reduce_in_turn, { 0.0, 0.05,  0.0,  0.0,  0.0,  0.0,  0.0,  0.0,  0.0}},
    Doubt{{"halves hide less",
           "collectives that hide behind a whole backward pass outlast its half that makes gradients of inputs"},
          halves_hide_less, { 0.0,  0.0,  0.0,  0.0,  0.0,  0.3,  0.0,  0.0,  0.0}},
    Doubt{no_flush, meets_every_micro_batch, { 0.0,  0.0,  0.0,  0.0,  0.0,  0.0,  3.0,  0.0,  0.0}},
    Doubt{{"kinds of block unevenly placed", "stages have their own mix of blocks; the closed form gives each the mean"},
          kinds_are_uneven, { 0.0,  0.0,  0.0,  0.0,  0.0,  0.0,  1.0,  0.0,  0.0}},
    Doubt{offloaded, stages_show_copies, { 0.0,  0.0,  0.0,  0.0,  0.0,  0.0,  0.0,  0.0,  5.0}},
    Doubt{offloaded, copies_beside_gradients, { 0.0,  0.0,  0.0,  0.0,  0.0,  0.0,  0.0,  3.0,  0.0}},
    Doubt{offloaded, copies_beside_shown_traffic, { 0.0,  0.0,  0.0,  0.0,  0.0,  0.0,  0.0,  0.1,  0.0}},
    Doubt{few_trained, few_blocks_are_trained, { 0.0,  1.0,  1.0,  0.0,  0.0,  1.0,  0.0,  1.0,  0.0}},
    Doubt{compressed, compresses_stage_by_stage, { 0.0,  0.0,  0.0,  1.0,  1.0,  1.0,  0.0,  0.0,  1.0}},
};
// clang-format on

/// What of the doubts of a plan is worth a name: a quarter of what it may be off by.
constexpr double named_share = 0.25;

} // namespace

std::vector<ClosedFormLimit> closed_form_limits(StepSetting const& setting, Strategy const& strategy,
                                                LayerCosts const& costs) {
    Inputs const in{setting, strategy, costs};
    auto const group = static_cast<std::size_t>(group_of(in));
    std::array<double, doubts.size()> seconds{};
    double sum = 0.0;
    for (std::size_t i = 0; i < doubts.size(); ++i) {
        if (doubts[i].share[group] > 0.0) { sum += seconds[i] = doubts[i].share[group] * doubts[i].seconds(in); }
    }
    double const allowed = agreement_bar * in.step;
    std::vector<ClosedFormLimit> limits;
    if (sum <= allowed) { return limits; }
    double const named = std::min(named_share * allowed, *std::ranges::max_element(seconds));
    for (std::size_t i = 0; i < doubts.size(); ++i) { // several are of one name
        bool const known = std::ranges::find(limits, doubts[i].limit.name, &ClosedFormLimit::name) != limits.end();
        if (seconds[i] >= named && seconds[i] > 0.0 && !known) { limits.push_back(doubts[i].limit); }
    }
    return limits;
}

} // namespace headroom
