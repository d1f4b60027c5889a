#include "headroom/training/plan_choice.hpp"

#include "headroom/order_statistics.hpp"
#include "headroom/training/warm_start.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace headroom::training {
namespace {

/// Key that all plans of a sweep share; with its site also the trained weights and the offload.
std::string sweep_of(PublishedRun const& run) {
    auto const& question = *run.question;
    auto const traits = traits_of(question);
    std::string key = run.source;
    for (std::string const& part :
         {traits.site, run.accelerator, traits.model, traits.workload, std::to_string(question.strategy.workers()),
          std::to_string(question.workload.global_batch), std::to_string(question.model.vocab)}) {
        key += '\n' + part;
    }
    return key;
}

void add_to_plans(std::vector<MeasuredPlan>& plans, RunComparison const& row) {
    auto const& strategy = row.run->question->strategy;
    auto const same = std::ranges::find_if(
        plans, [&](MeasuredPlan const& plan) { return plan.runs.front()->run->question->strategy == strategy; });
    if (same != plans.end()) {
        same->runs.push_back(&row);
    } else {
        plans.emplace_back().runs.push_back(&row);
    }
}

void take_medians(MeasuredPlan& plan) {
    std::vector<double> predicted, measured;
    for (auto const* row : plan.runs) {
        predicted.push_back(row->predicted->base());
        measured.push_back(row->run->measured.base());
    }
    plan.predicted = Seconds{quantile(predicted, 0.5)};
    plan.measured = Seconds{quantile(measured, 0.5)};
    plan.spread = std::ranges::max(measured) / std::ranges::min(measured) - 1.0;
}

PlanSweep judged(std::vector<MeasuredPlan> plans) {
    auto const& first = *plans.front().runs.front()->run;
    PlanSweep sweep{.source = first.source,
                    .model = first.question->model.name,
                    .accelerator = first.accelerator,
                    .accelerators = first.question->strategy.workers(),
                    .batch = first.question->workload.global_batch,
                    .sequence_length = first.question->workload.sequence_length,
                    .plans = std::move(plans)};
    std::vector<double> predicted, measured;
    for (auto& plan : sweep.plans) {
        take_medians(plan);
        predicted.push_back(plan.predicted.base());
        measured.push_back(plan.measured.base());
        sweep.noise = std::max(sweep.noise, plan.spread);
    }
    sweep.chosen = static_cast<std::size_t>(std::ranges::min_element(predicted) - predicted.begin());
    sweep.best = static_cast<std::size_t>(std::ranges::min_element(measured) - measured.begin());
    sweep.regret = measured[sweep.chosen] / measured[sweep.best] - 1.0;
    sweep.tau = kendall_tau_b(predicted, measured);
    return sweep;
}

} // namespace

double kendall_tau_b(std::span<double const> x, std::span<double const> y) {
    double agree = 0.0, untied_x = 0.0, untied_y = 0.0;
    auto const sign = [](double difference) { return (difference > 0.0) - (difference < 0.0); };
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            int const in_x = sign(x[i] - x[j]), in_y = sign(y[i] - y[j]);
            agree += in_x * in_y;
            untied_x += in_x * in_x;
            untied_y += in_y * in_y;
        }
    }
    return untied_x * untied_y > 0.0 ? agree / std::sqrt(untied_x * untied_y) : 0.0;
}

PlanChoice plan_choice(std::span<RunComparison const> rows) {
    std::map<std::string, std::vector<MeasuredPlan>> sweeps;
    for (auto const& row : rows) {
        if (row.predicted && row.run->counts()) { add_to_plans(sweeps[sweep_of(*row.run)], row); }
    }
    constexpr std::size_t least_plans = 3;
    PlanChoice choice;
    for (auto& [key, plans] : sweeps) {
        if (plans.size() >= least_plans) { choice.sweeps.push_back(judged(std::move(plans))); }
    }
    std::ranges::stable_sort(choice.sweeps, std::ranges::greater{}, &PlanSweep::regret);
    if (choice.sweeps.empty()) { return choice; }
    std::vector<double> regrets, taus;
    for (auto const& sweep : choice.sweeps) {
        regrets.push_back(sweep.regret);
        taus.push_back(sweep.tau);
        choice.summary.plans += static_cast<int>(sweep.plans.size());
        choice.summary.best_chosen += sweep.chosen == sweep.best ? 1 : 0;
    }
    choice.summary.sweeps = static_cast<int>(choice.sweeps.size());
    choice.summary.median_regret = quantile(regrets, 0.5);
    choice.summary.worst_regret = std::ranges::max(regrets);
    choice.summary.median_tau = quantile(taus, 0.5);
    return choice;
}

} // namespace headroom::training
