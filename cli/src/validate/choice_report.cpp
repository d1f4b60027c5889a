#include "validate/choice_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace headroom::cli {

using namespace headroom::training;

namespace {

constexpr std::size_t worst_shown = 10;

std::vector<std::string> ids_of(MeasuredPlan const& plan) {
    std::vector<std::string> ids;
    for (RunComparison const* row : plan.runs) { ids.push_back(row->run->id); }
    return ids;
}

std::vector<std::string> scale_line(ScaleSummary const& group) {
    return {group.name,
            std::to_string(group.rows),
            percent(group.median_before),
            percent(group.median_after),
            percent(group.p90_before),
            percent(group.p90_after),
            percent(group.coverage_after),
            "x" + significant(group.width_before),
            "x" + significant(group.width_after)};
}

} // namespace

void add_choice(std::vector<Block>& blocks, PlanChoice const& choice, bool left_out) {
    auto const& s = choice.summary;
    Table table{.title = "Plan chosen by prediction: regret " + percent(s.median_regret) + " % in the median, " +
                         percent(s.worst_regret) + " % at worst, tau " + significant(s.median_tau),
                .columns = {wrapped("source"), wrapped("model"), "workers", "plans", "regret %", "repeats %", "tau",
                            left("chosen"), left("best")}};
    for (PlanSweep const& sweep : choice.sweeps) {
        if (table.rows.size() == worst_shown) { break; }
        table.rows.push_back({sweep.source, sweep.model, std::to_string(sweep.accelerators),
                              std::to_string(sweep.plans.size()), percent(sweep.regret),
                              sweep.noise > 0.0 ? percent(sweep.noise) : "-", significant(sweep.tau, 2),
                              ids_of(sweep.plans[sweep.chosen]).front(), ids_of(sweep.plans[sweep.best]).front()});
    }
    blocks.emplace_back(std::move(table));
    blocks.emplace_back(
        Paragraph{std::to_string(s.sweeps) + " sweeps of one source over " + std::to_string(s.plans) +
                      " plans of one model, batch and machine, " +
                      (left_out ? "predicted with that source left out" : "predicted by the constants in use") +
                      "; the worst are shown. regret: measured step of the plan predicted fastest over the "
                      "fastest measured one, less 1; repeats: how far repeats of one plan lie apart; tau: "
                      "Kendall's, of predicted and measured steps (1: the same order)",
                  "choice"});
}

void add_utilization(std::vector<Block>& blocks, UtilizationCheck const& check) {
    std::map<std::pair<std::string, std::string>, UtilizationCheck> parts;
    for (UtilizationComparison const& row : check.rows) {
        std::string const convention{name_of(row.run->utilization->convention)};
        parts[{row.run->source, (row.hardware ? "HFU, " : "MFU, ") + convention + " attention"}].rows.push_back(row);
    }
    Table table{.title = "Operations counted: MFU and HFU of the measured step against the printed ones",
                .columns = {wrapped("source"), left("quantity"), "runs", "median %", "worst %", left("worst run")}};
    for (auto const& [key, part] : parts) {
        std::vector<double> differences;
        for (UtilizationComparison const& row : part.rows) { differences.push_back(row.difference()); }
        auto const worst = std::ranges::max_element(
            part.rows, {}, [](UtilizationComparison const& row) { return std::abs(row.difference()); });
        table.rows.push_back({key.first, key.second, std::to_string(part.rows.size()),
                              percent(quantile(differences, 0.5)), percent(worst->difference()), worst->run->id});
    }
    blocks.emplace_back(std::move(table));
}

void add_scales(std::vector<Block>& blocks, ScaleValidation const& scales) {
    std::string by;
    Table table;
    auto const done = [&] {
        if (!table.rows.empty()) { blocks.emplace_back(std::move(table)); }
    };
    for (ScaleSummary const& group : scales.groups) {
        if (group.by != by) {
            done();
            by = group.by;
            bool const all = by == "all";
            table = {.title = all ? "Larger runs, given the smallest run of their family" : "The same by " + by,
                     .columns = {wrapped(all ? "runs that are" : by), "runs", "median %", "warm %", "90th %", "warm %",
                                 "inside %", "band", "warm"}};
        }
        table.rows.push_back(scale_line(group));
    }
    done();
    blocks.emplace_back(Paragraph{
        "one source, model, framework, accelerator, precision and length: " + std::to_string(scales.families) +
            " families; constants and likeness never saw the source. warm: given the measured step "
            "of the smallest run; inside: share of runs within their warm interval; band: median "
            "half-width of the interval",
        "scales"});
}

} // namespace headroom::cli
