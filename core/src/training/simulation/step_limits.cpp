#include "one_stage.hpp"
#include "step_limit_parts.hpp"

#include "headroom/training/simulation_agreement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace headroom::training {
namespace {

using namespace simulation;

/// Plans about which the same is in doubt.
enum class PlanGroup : std::uint8_t {
    whole,         ///< one stage, ZeRO 0 and 1
    reduces_often, ///< one stage, ZeRO 2
    sharded,       ///< one stage, ZeRO 3
    in_turn,       ///< 1F1B and GPipe
    interleaved,
    other_rows, ///< split passes, V's and two directions
    no_flush,
    copies,         ///< one stage with activations on the host
    copies_in_turn, ///< the same of 1F1B
    copies_of_rows, ///< and of other pipelines
    count_,
};

PlanGroup group_of(Inputs const& in) {
    if (offloads_activations(in.strategy.offload)) {
        if (!in.pipeline()) { return PlanGroup::copies; }
        bool const in_turn = in.strategy.schedule() == PipelineSchedule::one_f_one_b;
        return in_turn ? PlanGroup::copies_in_turn : PlanGroup::copies_of_rows;
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
/// a difference itself; others were read off random plans. Those of one stage claim only steps that are too long for
/// their units to be run one by one.
struct Doubt {
    ClosedFormLimit limit;
    double (*seconds)(Inputs const&);
    std::array<double, static_cast<std::size_t>(PlanGroup::count_)> share;
};

constexpr ClosedFormLimit rows{
    "rows of stages",
    "passes of every stage with its own blocks, transfers, buckets of gradients and weights, run row by row, come "
    "to another time than the form for stages of a mean block"};
constexpr ClosedFormLimit one_by_one{
    "units of a stage",
    "the passes of a stage's blocks one by one, beside its host and all that it sends, come to another time than those "
    "of as many mean blocks"};
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
constexpr ClosedFormLimit uneven_kinds{"kinds of block unevenly placed",
                                       "stages have their own mix of blocks; the closed form gives each the mean"};
constexpr ClosedFormLimit halves{
    "halves hide less",
    "collectives that hide behind a whole backward pass outlast its half that makes gradients of inputs"};
constexpr ClosedFormLimit kinds_in_turn{
    "kinds of block reduce in turn",
    "gradients of blocks whose neighbours are of another kind hide behind longer or shorter passes than the mean one"};
constexpr ClosedFormLimit waits_for_all{
    "all wait for one", "servers and local updates begin when a stage is done, which stages are at their own time"};
constexpr ClosedFormLimit few_trained{"few blocks trained",
                                      "gradients, weights and copies of a few blocks are told by their mean"};
constexpr ClosedFormLimit hidden_in_waits{
    "gradients beside waits",
    "gradients and weights that are under way while stages wait for each other slow nobody, and which of "
    "them are is known roughly"};
constexpr ClosedFormLimit compressed{
    "compressed gradients",
    "every stage compresses its gradients in its last backward pass, before it hands on; the closed form once"};

// clang-format off
constexpr std::array doubts{
    // one stage: ZeRO 0 and 1, 2, 3; 1F1B and GPipe, interleaved, other rows, no flush; activations with the host: one stage, 1F1B, others
    Doubt{rows, rows_differ, {0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0}},
    Doubt{no_flush, rows_are_not_run, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}},
    Doubt{offloaded, rows_are_not_run, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0}},
    Doubt{blocks, blocks_differ, {1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0}},
    Doubt{uneven_kinds, kinds_are_uneven, {0.0, 0.0, 0.0, 0.0, 0.17, 0.17, 1.0, 0.0, 0.0, 0.0}},
    Doubt{shared_adapter, adapter_is_shared, {0.35, 0.25, 0.17, 0.0, 0.0, 0.0, 5.0, 0.35, 0.0, 0.0}},
    Doubt{shared_adapter, adapter_is_shared_at_the_end, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0}},
    Doubt{shared_adapter, adapter_in_rows, {0.0, 0.0, 0.0, 0.05, 0.05, 0.05, 0.0, 0.0, 0.0, 0.0}},
    Doubt{shared_adapter, hidden_meets_others, {0.0, 0.08, 0.5, 0.0, 0.0, 0.0, 0.0, 0.05, 0.0, 0.0}},
    Doubt{shared_adapter, hidden_meets_shown, {0.0, 0.08, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
    Doubt{shared_adapter, shown_meets_others, {0.0, 0.0, 0.0, 0.0, 0.03, 0.0, 0.5, 0.0, 0.0, 0.0}},
    Doubt{shared_adapter, hidden_meets_by_chance, {0.17, 0.0, 0.0, 0.0, 0.0, 0.0, 0.08, 0.0, 0.0, 0.0}},
    Doubt{shared_adapter, keys_and_tokens_share_the_adapter, {0.02, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
    Doubt{long_transfers, transfers_leave, {0.0, 0.0, 0.0, 0.02, 0.17, 0.25, 0.5, 0.0, 0.0, 0.0}},
    Doubt{beside_collectives, slowdown_beside_collectives, {0.03, 0.0, 0.12, 0.0, 0.0, 0.0, 0.0, 0.17, 0.0, 0.0}},
    Doubt{beside_collectives, reduction_beside_collectives, {0.1, 0.0, 0.1, 0.0, 0.0, 0.0, 0.35, 0.1, 0.0, 0.0}},
    Doubt{beside_collectives, traffic_in_rows, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0, 0.0}},
    Doubt{beside_collectives, hidden_behind_passes, {0.05, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
    Doubt{beside_collectives, last_bucket_behind_passes, {1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0}},
    Doubt{hidden_in_waits, waits_while_it_hides, {0.0, 0.0, 0.0, 0.02, 0.02, 0.4, 0.0, 0.0, 0.0, 0.0}},
    Doubt{late_host, traffic_beside_a_late_host, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.7, 0.0, 0.0, 0.0}},
    Doubt{late_host, waiting_traffic, {0.0, 0.0, 0.08, 0.08, 0.12, 0.12, 0.0, 0.0, 0.0, 0.0}},
    Doubt{late_host, waiting_by_chance, {0.02, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
    Doubt{kinds_in_turn, kinds_reduce_in_turn, {0.0, 0.08, 0.02, 0.0, 0.0, 0.0, 0.08, 0.0, 0.0, 0.0}},
    Doubt{halves, halves_hide_less, {0.0, 0.0, 0.0, 0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 0.0}},
    Doubt{no_flush, meets_every_micro_batch, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.05, 0.0, 0.0, 0.0}},
    Doubt{waits_for_all, all_wait_for_one, {0.25, 0.0, 0.0, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0}},
    Doubt{offloaded, copies_shown, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0}},
    Doubt{offloaded, host_shows, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}},
    Doubt{offloaded, copies_of_a_step, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0}},
    Doubt{offloaded, copies_beside_a_late_host, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0}},
    Doubt{offloaded, copies_beside_gradients, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.5, 0.0, 0.0}},
    Doubt{offloaded, copies_beside_shown_traffic, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.08, 0.0, 0.0}},
    Doubt{offloaded, state_copies_beside_gradients, {0.1, 0.1, 0.1, 0.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0}},
    Doubt{few_trained, traffic_of_few_blocks, {0.35, 0.25, 0.0, 0.12, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
    Doubt{few_trained, step_of_few_blocks, {0.0, 0.0, 0.05, 0.0, 0.008, 0.005, 0.05, 0.03, 0.0, 0.0}},
    Doubt{few_trained, copies_of_few_blocks, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}},
    Doubt{few_trained, rows_of_few_blocks, {0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0}},
    Doubt{long_transfers, transfers_meet_by_chance, {0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0}},
    Doubt{compressed, compresses_gradients, {0.7, 0.0, 0.0, 0.1, 0.1, 0.1, 1.0, 0.0, 1.4, 1.4}},
};
// clang-format on

/// What of the doubts of a plan is worth a name: a quarter of what it may be off by.
constexpr double named_share = 0.25;

/// Of what a plan may be off by, what units one by one may come to: they are told to a few parts in 10,000 themselves.
constexpr double share_of_units = 0.98;

/// The same of the sum of a pipeline's doubts: what no part of it says has the rest.
constexpr double share_of_rows = 0.5;

/// By how much the units of one stage come to another time than the closed form has; of others, and of long steps, nothing.
std::optional<double> units_differ(Inputs const& in) {
    auto const all = seconds_unit_by_unit(in);
    if (!all) { return std::nullopt; }
    auto const& time = in.time;
    return std::abs(*all - (time.total() - time.imbalance - time.stragglers - time.overhead).base());
}

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
    auto const differ = units_differ(in); // of one stage it decides, and what is in doubt tells where to look
    std::vector<ClosedFormLimit> limits;
    double const share = in.pipeline() ? share_of_rows : 1.0;
    if (differ ? *differ <= share_of_units * allowed : sum <= share * allowed) { return limits; }
    double const most = *std::ranges::max_element(seconds);
    double const named = differ ? named_share * allowed : std::min(named_share * allowed, most);
    if (differ) { limits.push_back(one_by_one); }
    for (std::size_t i = 0; i < doubts.size(); ++i) { // several are of one name
        bool const known = std::ranges::find(limits, doubts[i].limit.name, &ClosedFormLimit::name) != limits.end();
        if (seconds[i] >= named && seconds[i] > 0.0 && !known) { limits.push_back(doubts[i].limit); }
    }
    return limits;
}

} // namespace headroom::training
