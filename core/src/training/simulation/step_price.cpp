#include "step_recurrence.hpp"
#include "step_unroll.hpp"

#include "headroom/training/step.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {

using namespace simulation;

namespace {

Seconds seconds_of(Ticks ticks) { return Seconds{static_cast<double>(ticks) * 1e-12}; }

/// Time of the stage that works longest, which is the step's; where steps run into each other, of the one with the longest
/// span or, without a flush, the one that waits least for others.
StageTime deciding_stage(StepRecurrence& run, UnrolledStep const& step, Strategy const& strategy) {
    bool const steady = !step.steady.kernels.empty();
    bool const span = schedule_row(strategy.schedule()).validates_late;
    StageTime longest;
    Ticks most = -1;
    for (std::size_t stage = 0; stage < run.chips(); ++stage) {
        StageTime const time = steady ? run.of_marks(stage) : span ? run.of_span(stage) : run.of_run(stage);
        Ticks const length = span && !steady ? time.all() : time.own();
        if (length > most) { longest = time, most = length; }
    }
    return longest;
}

StepTime parts_of(StageTime const& stage, double share, bool pipeline) {
    auto const part = [share](Ticks ticks) { return share * seconds_of(ticks); };
    auto const exposed = [&](WorkKind kind) { return part(stage.exposed[static_cast<std::size_t>(kind)]); };
    StepTime time;
    time.compute = part(stage.work);
    time.host = exposed(WorkKind::launch);
    time.tensor_communication = exposed(WorkKind::tensor);
    time.context_communication = exposed(WorkKind::context);
    time.expert_communication = exposed(WorkKind::experts);
    time.pipeline_communication = exposed(WorkKind::pipeline);
    time.data_communication = exposed(WorkKind::data) + part(stage.slowed);
    time.optimizer = part(stage.optimizer);
    time.offload = exposed(WorkKind::offload);
    (pipeline ? time.pipeline_bubble : time.host) += part(stage.idle);
    return time;
}

/// Parts of a run of so many micro-batches; none: all of the step.
StepTime run_of(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, int micro_batches,
                bool shared_links) {
    SimulationOptions options;
    options.detail = StepDetail::block;
    options.micro_batches = micro_batches;
    options.share_links = shared_links;
    StepRecurrence run{data_rules(setting, strategy).slowdown};
    auto const step = unroll_step(setting, strategy, costs, options, &run);
    if (!step.refused.empty()) { return {}; }
    run.finish();
    return parts_of(deciding_stage(run, step, strategy), step.steady.share, strategy.pp > 1);
}

/// Parts of `from` and of so many times what lies between `before` and it.
StepTime continued(StepTime const& before, StepTime const& from, double times) {
    StepTime result;
    for (Seconds StepTime::*part :
         {&StepTime::compute, &StepTime::host, &StepTime::tensor_communication, &StepTime::context_communication,
          &StepTime::expert_communication, &StepTime::pipeline_communication, &StepTime::data_communication,
          &StepTime::pipeline_bubble, &StepTime::optimizer, &StepTime::offload}) {
        result.*part = from.*part + times * (from.*part - before.*part);
    }
    return result;
}

/// A step of many micro-batches from runs of few: once two more rounds of p micro-batches add as much each, all further
/// ones do. Holds for the schedules whose order of passes repeats every p micro-batches: one stage, 1F1B, interleaved.
template <class Run> StepTime periodic(Strategy const& strategy, int micro_batches, Run run) {
    constexpr double equal = 1e-9; // relative: ticks are rounded where kernels overlap with traffic
    int const round = strategy.pp;
    bool const repeats = strategy.pp == 1 || strategy.schedule() == PipelineSchedule::one_f_one_b ||
                         strategy.schedule() == PipelineSchedule::interleaved;
    for (int few = 3 * round + micro_batches % round; repeats && 6 * (few + round) < micro_batches; few *= 2) {
        few -= (few - micro_batches) % round;
        StepTime const one = run(few), two = run(few + round), three = run(few + 2 * round);
        Seconds const before = two.total() - one.total(), after = three.total() - two.total();
        if (std::abs((after - before).base()) > equal * three.total().base()) { continue; }
        return continued(two, three, (micro_batches - few - 2.0 * round) / round);
    }
    return run(0);
}

} // namespace

void add_disturbance(StepTime& time, StepSetting const& setting, Strategy const& strategy) {
    auto const& disturbance = setting.disturbance;
    auto const known = setting.fullest_of.find(strategy.dp);
    double const fullest = known != setting.fullest_of.end() ? known->second : disturbance.imbalance;
    time.imbalance = std::max(0.0, fullest - 1.0) * time.compute;
    bool const spreads = disturbance.spread.has_value() || setting.framework.paced;
    double const spread = disturbance.spread.value_or(setting.constants[Constant::rank_spread]);
    time.stragglers = (spreads ? spread * setting.expected_slowest : 0.0) * time.total();
    time.overhead = Seconds{setting.constants[Constant::step_overhead]};
}

StepTime price_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, bool shared_links) {
    auto const run = [&](int micro_batches) { return run_of(setting, strategy, costs, micro_batches, shared_links); };
    StepTime time = periodic(strategy, whole_micro_batches(strategy, setting.workload), run);
    add_disturbance(time, setting, strategy);
    return time;
}

} // namespace headroom::training
