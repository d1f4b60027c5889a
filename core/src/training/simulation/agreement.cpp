#include "headroom/error.hpp"
#include "headroom/training/simulation_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace headroom::training {
namespace {

/// Quantile of sorted values: the nearest of them.
double at(std::vector<double> const& sorted, double share) {
    auto const last = static_cast<double>(sorted.size() - 1);
    return sorted[static_cast<std::size_t>(std::lround(share * last))];
}

/// Spread of a difference over the rows that count.
template <class Counts>
DifferenceSpread spread_of(std::span<AgreementRow const> rows, double AgreementRow::*difference, Counts counts) {
    std::vector<double> all;
    for (AgreementRow const& row : rows) {
        if (row.refused.empty() && counts(row)) { all.push_back(std::abs(row.*difference)); }
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

AgreementOfKind of_kind(std::span<AgreementRow const> rows, std::string const& name) {
    auto const is = [&name](AgreementRow const& row) {
        return name.empty() || std::ranges::count(row.kinds, name) > 0;
    };
    return {.name = name,
            .difference = spread_of(rows, &AgreementRow::difference, is),
            .unshared = spread_of(rows, &AgreementRow::unshared, is)};
}

/// A step of months is more ticks than a run counts: one such plan does not end a table of thousands.
SimulatedStep simulated_or_refused(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                                   bool shared_links) {
    SimulationOptions options;
    options.detail = StepDetail::block;
    options.share_links = shared_links;
    try {
        return simulate_step(setting, strategy, costs, options);
    } catch (InputError const& error) {
        SimulatedStep refused;
        refused.refused = error.text().problem;
        return refused;
    }
}

} // namespace

std::vector<std::string> kinds_of(Question const& question) {
    auto const& s = question.strategy;
    std::vector<std::string> kinds{s.pp > 1 ? std::string{schedule_row(s.schedule()).title} : "one stage",
                                   "ZeRO " + std::to_string(s.zero)};
    auto const add = [&kinds](bool has, char const* name) {
        if (has) { kinds.emplace_back(name); }
    };
    add(s.shard > 0, "shard group");
    add(s.ep > 1, "expert parallel");
    add(s.cp > 1, "context parallel");
    add(s.tp > 1, "tensor parallel");
    add(s.recompute != Recompute::none, "recomputation");
    add(s.overlap == Overlap::off, "no overlap");
    add(s.overlap != Overlap::off && s.overlap != Overlap::on, "overlap by kind of traffic");
    add(s.offload != Offload::none, "offload");
    add(s.trained == Trained::last_layers, "last blocks trained");
    add(s.trained == Trained::lora, "LoRA");
    add(s.local_steps > 1 || s.servers > 0 || s.compression.kind != network::Compression::none,
        "other synchronisation");
    return kinds;
}

AgreementRow agreement_of(Question const& question, CalibrationSet const& calibration, std::uint64_t index) {
    auto const& strategy = question.strategy;
    Calibration const constants = calibration.values();
    Cluster const cluster = congested(question.cluster, question.disturbance.congestion, strategy.workers());
    StepSetting const setting = step_setting(question, cluster, constants);
    LayerShape const shape = shape_of(strategy, question.workload);
    LayerCosts costs = layer_costs(step_program(question.model, shape, question.framework), shape, cluster,
                                   question.framework, constants);
    costs.pace(pace_of(question.framework, question.model, calibration, cluster.accelerator, strategy.precision));
    AgreementRow row{.index = index,
                     .model = question.model.name,
                     .cluster = question.cluster.name,
                     .framework = question.framework.name,
                     .strategy = short_name(strategy),
                     .workload = question.workload,
                     .kinds = kinds_of(question),
                     .priced = price_step(setting, strategy, costs).total()};
    auto const shared = simulated_or_refused(setting, strategy, costs, true);
    row.refused = shared.refused;
    if (!row.refused.empty()) { return row; }
    row.simulated = shared.step();
    row.difference = row.simulated / row.priced - 1.0;
    row.unshared = simulated_or_refused(setting, strategy, costs, false).step() /
                       price_step(setting, strategy, costs, false).total() -
                   1.0;
    return row;
}

std::vector<AgreementRow> agreement_rows(PlanMenu const& menu, CalibrationSet const& calibration, std::uint64_t seed,
                                         int count, Executor const& run, std::stop_token const& stop) {
    std::vector<std::optional<AgreementRow>> finished(static_cast<std::size_t>(count));
    auto const task = [&](int index) {
        if (stop.stop_requested()) { return; }
        auto const at = static_cast<std::uint64_t>(index);
        finished[at] = agreement_of(random_plan(menu, seed, at), calibration, at);
    };
    run_each(run, count, task);
    auto const reached = std::ranges::find_if(finished, [](auto const& row) { return !row; });
    std::vector<AgreementRow> rows;
    std::transform(finished.begin(), reached, std::back_inserter(rows), [](auto& row) { return std::move(*row); });
    return rows;
}

AgreementTable agreement_table(std::span<AgreementRow const> rows) {
    AgreementTable table;
    table.all = of_kind(rows, "");
    for (AgreementRow const& row : rows) {
        if (!row.refused.empty()) { ++table.refused; }
        for (std::string const& kind : row.kinds) {
            bool const known = std::ranges::count(table.kinds, kind, &AgreementOfKind::name) > 0;
            if (!known) { table.kinds.push_back(of_kind(rows, kind)); }
        }
    }
    std::ranges::stable_sort(table.kinds, std::ranges::greater{},
                             [](AgreementOfKind const& kind) { return kind.difference.plans; });
    return table;
}

} // namespace headroom::training
