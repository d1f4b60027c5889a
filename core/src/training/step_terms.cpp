#include "headroom/training/step.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace headroom::training {
namespace {

using Inputs = std::vector<std::pair<std::string, double>>;

/// Parts that the recurrence measures on the stage that works longest: how long it waits, and for what.
struct MeasuredPart {
    char const* name;
    char const* input;
    Seconds StepTime::*time;
};
constexpr MeasuredPart measured_parts[] = {
    {"host_seconds", "launch_wait_seconds", &StepTime::host},
    {"tensor_seconds", "tensor_wait_seconds", &StepTime::tensor_communication},
    {"context_seconds", "context_wait_seconds", &StepTime::context_communication},
    {"expert_seconds", "expert_wait_seconds", &StepTime::expert_communication},
    {"pipeline_seconds", "transfer_wait_seconds", &StepTime::pipeline_communication},
    {"data_seconds", "data_wait_seconds", &StepTime::data_communication},
    {"pipeline_bubble_seconds", "stage_idle_seconds", &StepTime::pipeline_bubble},
    {"offload_seconds", "copy_wait_seconds", &StepTime::offload},
};

/// Inputs joined by " + ".
std::string sum_of(Inputs const& inputs) {
    std::string formula;
    for (auto const& [name, value] : inputs) { formula += (formula.empty() ? "" : " + ") + name; }
    return formula;
}

} // namespace

std::vector<Term> explain_step(StepSetting const& setting, Strategy const& strategy, StepTime const& time) {
    std::vector<Term> terms;
    auto const add = [&terms](char const* name, std::string formula, Inputs inputs, Seconds value) {
        terms.push_back({name, "s", std::move(formula), std::move(inputs), value.base()});
    };
    double const micro_batches = micro_batch_count(strategy, setting.workload);
    auto const of_a_micro_batch = [&](char const* name, char const* each, Seconds value) {
        add(name, std::string{"micro_batches * "} + each,
            {{"micro_batches", micro_batches}, {each, (value / micro_batches).base()}}, value);
    };
    of_a_micro_batch("compute_seconds", "stage_kernel_seconds", time.compute);
    Inputs parts{{"compute_seconds", time.compute.base()}};
    for (MeasuredPart const& part : measured_parts) {
        Seconds const value = time.*part.time;
        add(part.name, part.input, {{part.input, value.base()}}, value);
        parts.emplace_back(part.name, value.base());
    }
    of_a_micro_batch("optimizer_seconds", "stage_optimizer_seconds", time.optimizer);
    parts.emplace_back("optimizer_seconds", time.optimizer.base());
    if (time.imbalance > Seconds{}) {
        double const fullest = time.imbalance / time.compute + 1.0;
        add("imbalance_seconds", "(largest_over_mean - 1) * compute_seconds",
            {{"largest_over_mean", fullest}, {"compute_seconds", time.compute.base()}}, time.imbalance);
        parts.emplace_back("imbalance_seconds", time.imbalance.base());
    }
    Seconds const busy = time.total() - time.stragglers - time.overhead;
    add("busy_seconds", sum_of(parts), parts, busy);
    double const slowest = setting.expected_slowest;
    double const spread = slowest > 0.0 && busy > Seconds{} ? time.stragglers / busy / slowest : 0.0;
    add("stragglers_seconds", "spread * expected_slowest * busy_seconds",
        {{"spread", spread}, {"expected_slowest", slowest}, {"busy_seconds", busy.base()}}, time.stragglers);
    add("overhead_seconds", "step_overhead_seconds",
        {{"step_overhead_seconds", setting.constants[Constant::step_overhead]}}, time.overhead);
    Inputs const whole{{"busy_seconds", busy.base()},
                       {"stragglers_seconds", time.stragglers.base()},
                       {"overhead_seconds", time.overhead.base()}};
    add("step_seconds", sum_of(whole), whole, time.total());
    return terms;
}

} // namespace headroom::training
