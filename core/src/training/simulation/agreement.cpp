#include "headroom/error.hpp"
#include "headroom/training/simulation_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace headroom::training {
namespace {

/// The value that so many of the sorted ones do not exceed; the nearest of them.
double at(std::vector<double> const& sorted, double share) {
    auto const last = static_cast<double>(sorted.size() - 1);
    return sorted[static_cast<std::size_t>(std::lround(share * last))];
}

/// Gathers the absolute differences of the rows that `counts` asks for.
template <class Counts> DifferenceSpread spread_of(std::span<AgreementRow const> rows, Counts counts) {
    std::vector<double> all;
    for (AgreementRow const& row : rows) {
        if (row.refused.empty() && counts(row)) { all.push_back(std::abs(row.difference)); }
    }
    if (all.empty()) { return {}; }
    std::ranges::sort(all);
    auto const within = std::ranges::upper_bound(all, agreement_bar) - all.begin();
    return {.plans = static_cast<int>(all.size()),
            .median = at(all, 0.5),
            .p99 = at(all, 0.99),
            .worst = all.back(),
            .within = static_cast<double>(within) / static_cast<double>(all.size())};
}

bool meets(AgreementRow const& row, std::string_view limit) {
    return std::ranges::any_of(row.limits, [limit](ClosedFormLimit const& one) { return one.name == limit; });
}

template <class List> bool names(List const& list, std::string_view name) {
    return std::ranges::any_of(list, [name](auto const& one) { return one.name == name; });
}

AgreementOfModel of_model(std::span<AgreementRow const> rows, std::string const& name) {
    auto const of_it = [&name](AgreementRow const& row) { return name.empty() || row.model == name; };
    return {.name = name, .all = spread_of(rows, of_it), .claimed = spread_of(rows, [&of_it](AgreementRow const& row) {
                                                             return of_it(row) && row.claimed();
                                                         })};
}

AgreementOfLimit of_limit(std::span<AgreementRow const> rows, ClosedFormLimit const& limit) {
    auto const met = [&limit](AgreementRow const& row) { return meets(row, limit.name); };
    return {.name = std::string{limit.name},
            .reason = std::string{limit.reason},
            .met = spread_of(rows, met),
            .alone = spread_of(rows, [&met](AgreementRow const& row) { return row.limits.size() == 1 && met(row); })};
}

/// A step of months is more ticks than a run counts: one such plan does not end a table of thousands.
SimulatedStep simulated_or_refused(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    try {
        return simulate_step(setting, strategy, costs);
    } catch (InputError const& error) {
        SimulatedStep refused;
        refused.refused = error.text().problem;
        return refused;
    }
}

} // namespace

PlanAgreement agreement_of(Question const& question, CalibrationSet const& calibration) {
    auto const& strategy = question.strategy;
    Calibration const constants = calibration.values();
    Cluster const cluster = congested(question.cluster, question.disturbance.congestion, strategy.workers());
    StepSetting const setting = step_setting(question, cluster, constants);
    LayerShape const shape = shape_of(strategy, question.workload);
    LayerCosts costs = layer_costs(step_program(question.model, shape, question.framework), shape, cluster,
                                   question.framework, constants);
    costs.pace(pace_of(question.framework, question.model, calibration));
    PlanAgreement result{.question = question,
                         .closed = step_time(setting, strategy, costs),
                         .limits = closed_form_limits(setting, strategy, costs),
                         .simulated = simulated_or_refused(setting, strategy, costs)};
    if (result.simulated.refused.empty()) { result.difference = result.simulated.step() / result.closed.total() - 1.0; }
    return result;
}

AgreementRow agreement_row(PlanAgreement const& plan, std::uint64_t index) {
    Question const& question = plan.question;
    bool const ran = plan.simulated.refused.empty();
    return {.index = index,
            .model = question.model.name,
            .cluster = question.cluster.name,
            .framework = question.framework.name,
            .strategy = short_name(question.strategy),
            .workload = question.workload,
            .closed = plan.closed.total(),
            .simulated = ran ? plan.simulated.step() : Seconds{},
            .difference = plan.difference,
            .limits = plan.limits,
            .refused = plan.simulated.refused};
}

std::vector<AgreementRow> agreement_rows(PlanMenu const& menu, CalibrationSet const& calibration, std::uint64_t seed,
                                         int count, Executor const& run, std::stop_token const& stop) {
    std::vector<std::optional<AgreementRow>> finished(static_cast<std::size_t>(count));
    auto const task = [&](int index) {
        if (stop.stop_requested()) { return; }
        auto const at = static_cast<std::uint64_t>(index);
        finished[at] = agreement_row(agreement_of(random_plan(menu, seed, at), calibration), at);
    };
    run_each(run, count, task);
    auto const reached = std::ranges::find_if(finished, [](auto const& row) { return !row; });
    std::vector<AgreementRow> rows;
    std::transform(finished.begin(), reached, std::back_inserter(rows), [](auto& row) { return std::move(*row); });
    return rows;
}

AgreementTable agreement_table(std::span<AgreementRow const> rows) {
    AgreementTable table;
    table.all = of_model(rows, "");
    for (AgreementRow const& row : rows) {
        if (!row.refused.empty()) { ++table.refused; }
        if (!names(table.models, row.model)) { table.models.push_back(of_model(rows, row.model)); }
        for (ClosedFormLimit const& limit : row.limits) {
            if (!names(table.limits, limit.name)) { table.limits.push_back(of_limit(rows, limit)); }
        }
    }
    std::ranges::stable_sort(table.limits, std::ranges::greater{},
                             [](AgreementOfLimit const& limit) { return limit.met.plans; });
    return table;
}

} // namespace headroom::training
