#include "step_recurrence.hpp"
#include "step_unroll.hpp"

#include "headroom/order_statistics.hpp"
#include "headroom/training/host_launches.hpp"
#include "headroom/training/step.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace headroom::training {

using namespace simulation;

namespace {

/// Times of one stage over the step.
StageTime time_of(StepRecurrence const& run, std::size_t stage, bool steady, bool span, double left_out) {
    if (steady) { return run.of_marks(stage); }
    StageTime time = span ? run.of_span(stage) : run.of_run(stage);
    if (left_out > 0.0) {
        StageTime round = run.of_marks(stage, 1);
        time += (round *= left_out);
    }
    return time;
}

/// Whether two successive rounds of p micro-batches take equally long, on every stage the same, end with equal backlogs of
/// traffic, and no stream loses lead over its kernels, within the rounding of ticks. Else stages or streams drift apart
/// until one waits.
bool repeats(StepRecurrence const& run) {
    constexpr double equal = 1e-9; // relative
    auto const pace = static_cast<double>(run.of_marks(0, 1).all());
    for (std::size_t stage = 0; stage < run.chips(); ++stage) {
        auto const first = static_cast<double>(run.of_marks(stage, 0).all());
        auto const next = static_cast<double>(run.of_marks(stage, 1).all());
        double const queued = std::abs(static_cast<double>(run.backlog(stage, 2) - run.backlog(stage, 1)));
        if (std::abs(next - first) > equal * next || std::abs(next - pace) > equal * pace) { return false; }
        auto const lost = static_cast<double>(run.lost_lead(stage, 2));
        if (std::max(queued, lost) > equal * next) { return false; }
    }
    return true;
}

/// Prices a step by a run of `run_length` micro-batches (0: all); `extrapolates`: the whole step, from its rounds. Empty if the
/// rounds do not repeat, or the run has too many tasks.
std::optional<PricedStep> run_of(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                                 int run_length, bool extrapolates, bool shared_links) {
    int const micro_batches = extrapolates ? run_length : 0;
    SimulationOptions options;
    options.detail = StepDetail::block;
    options.share_links = shared_links;
    options.micro_batches = run_length;
    options.marked = micro_batches > 0 ? 2 * strategy.pp : -1;
    StepRecurrence run{data_rules(setting, strategy).slowdown};
    auto const step = unroll_step(setting, strategy, costs, options, &run);
    if (!step.refused.empty()) { return std::nullopt; }
    run.finish();
    if (micro_batches > 0 && !repeats(run)) { return std::nullopt; }
    double const all = whole_micro_batches(strategy, setting.workload);
    double const left_out = micro_batches > 0 ? (all - micro_batches) / strategy.pp : 0.0;
    bool const steady = !step.steady.kernels.empty(), span = schedule_row(strategy.schedule()).validates_late;
    std::vector<StageTime> stages;
    for (std::size_t stage = 0; stage < run.chips(); ++stage) {
        stages.push_back(time_of(run, stage, steady, span, left_out));
    }
    auto const [time, stage] = deciding_stage(stages, span && !steady);
    return PricedStep{parts_of(time, step.steady.share, strategy.pp > 1), stage};
}

/// Price of a step of too many tasks to be run: on the line through those of two shorter steps.
PricedStep on_line(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, bool shared_links) {
    int const all = whole_micro_batches(strategy, setting.workload), run = 6 * strategy.pp;
    int const few = run + all % strategy.pp;
    auto const shorter = run_of(setting, strategy, costs, few, false, shared_links);
    auto longer = run_of(setting, strategy, costs, few + run, false, shared_links);
    if (!shorter || !longer) { return {.time = {.compute = screen_step(setting, strategy, costs)}}; }
    for (auto const part :
         {&StepTime::compute, &StepTime::host, &StepTime::tensor_communication, &StepTime::context_communication,
          &StepTime::expert_communication, &StepTime::pipeline_communication, &StepTime::data_communication,
          &StepTime::pipeline_bubble, &StepTime::optimizer, &StepTime::offload}) {
        longer->time.*part += (longer->time.*part - shorter->time.*part) * (static_cast<double>(all - few - run) / run);
    }
    return *longer;
}

/// Price of a step of many micro-batches from a run of fewer: once two rounds of p micro-batches repeat (`repeats`), all
/// later ones do. Holds for schedules whose order of passes repeats every p micro-batches: one stage, 1F1B, interleaved.
PricedStep periodic(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, bool shared_links) {
    int const round = strategy.pp, all = whole_micro_batches(strategy, setting.workload);
    auto const schedule = strategy.schedule();
    bool const is_periodic =
        round == 1 || schedule == PipelineSchedule::one_f_one_b || schedule == PipelineSchedule::interleaved;
    for (int run = 6 * round + all % round; is_periodic && run + round < all; run *= 2) {
        run -= (run - all) % round;
        if (auto const priced = run_of(setting, strategy, costs, run, true, shared_links)) { return *priced; }
    }
    auto const whole = run_of(setting, strategy, costs, 0, false, shared_links);
    return whole ? *whole : on_line(setting, strategy, costs, shared_links);
}

} // namespace

double largest_over_mean(Disturbance const& disturbance, int replicas) {
    if (!disturbance.uneven) { return disturbance.imbalance; }
    return expected_imbalance(disturbance.uneven->spread, disturbance.uneven->per_replica, Ranks{replicas});
}

StepTime disturbed(StepTime time, StepSetting const& setting, Strategy const& strategy) {
    auto const& disturbance = setting.disturbance;
    auto const known = setting.fullest_of.find(strategy.dp);
    double const fullest = known != setting.fullest_of.end() ? known->second : disturbance.imbalance;
    time.imbalance = std::max(0.0, fullest - 1.0) * time.compute;
    bool const spreads = disturbance.spread.has_value() || setting.framework.paced;
    double const spread = disturbance.spread.value_or(setting.constants[Constant::rank_spread]);
    time.stragglers = (spreads ? spread * setting.expected_slowest : 0.0) * time.total();
    double const issued = update_launches(setting.model, setting.framework, strategy.precision) *
                          setting.constants[Constant::host_launch] * launch_cost(setting.cluster.host_year);
    time.overhead = Seconds{setting.constants[Constant::step_overhead] + issued};
    return time;
}

PricedStep price_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                      bool shared_links) {
    constexpr double longest = 1e6; // seconds: picoseconds of it still count in 64 bits, as they add up over streams
    Seconds const screened = screen_step(setting, strategy, costs);
    if (!(screened.base() < longest)) { return PricedStep{.time = {.compute = screened}}; }
    auto const priced = periodic(setting, strategy, costs, shared_links);
    return {disturbed(priced.time, setting, strategy), priced.stage};
}

} // namespace headroom::training
