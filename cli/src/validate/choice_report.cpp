#include "validate/choice_report.hpp"

#include "document/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace headroom::cli {
namespace {

constexpr std::size_t worst_shown = 10;

ScaleSummary const& all_of(ScaleValidation const& scales) { return scales.groups.front(); }

std::string plan_name(MeasuredPlan const& plan) { return short_name(plan.runs.front()->run->question->strategy); }

std::vector<std::string> ids_of(MeasuredPlan const& plan) {
    std::vector<std::string> ids;
    for (RunComparison const* row : plan.runs) { ids.push_back(row->run->id); }
    return ids;
}

Json plan_json(MeasuredPlan const& plan) {
    return Json::object()
        .set("plan", plan_name(plan))
        .set("runs", Json::array_of(ids_of(plan)))
        .set("predicted_step_seconds", plan.predicted.base())
        .set("measured_step_seconds", plan.measured.base());
}

Json sweep_json(PlanSweep const& sweep) {
    return Json::object()
        .set("source", sweep.source)
        .set("model", sweep.model)
        .set("accelerator", sweep.accelerator)
        .set("accelerators", sweep.accelerators)
        .set("global_batch", sweep.batch)
        .set("sequence_length", sweep.sequence_length)
        .set("plans", static_cast<int>(sweep.plans.size()))
        .set("regret", sweep.regret)
        .set("repeats_spread", sweep.noise)
        .set("tau", sweep.tau)
        .set("chosen", plan_json(sweep.plans[sweep.chosen]))
        .set("best", plan_json(sweep.plans[sweep.best]));
}

Json scaled_json(ScaledRun const& row) {
    return Json::object()
        .set("id", row.run->id)
        .set("source", row.run->source)
        .set("anchored_to", row.anchor->id)
        .set("measured_step_seconds", row.run->measured.base())
        .set("predicted_step_seconds", row.before.base())
        .set("warm_step_seconds", row.after.base())
        .set("factor", row.factor)
        .set("relative_error", row.error_before)
        .set("warm_relative_error", row.error_after)
        .set("inside_interval", row.inside_before)
        .set("warm_inside_interval", row.inside_after)
        .set("anchor_outside_interval", row.clipped)
        .set("same_replica", row.same_replica);
}

Json group_json(ScaleSummary const& group) {
    return Json::object()
        .set("by", group.by)
        .set("name", group.name)
        .set("rows", group.rows)
        .set("median_absolute_error", group.median_before)
        .set("p90_absolute_error", group.p90_before)
        .set("warm_median_absolute_error", group.median_after)
        .set("warm_p90_absolute_error", group.p90_after)
        .set("interval_coverage", group.coverage_before)
        .set("warm_interval_coverage", group.coverage_after)
        .set("median_half_width", group.width_before)
        .set("warm_median_half_width", group.width_after);
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

void add_metrics(std::vector<Metric>& metrics, PlanChoiceSummary const& choice) {
    auto const known = [&choice](double value) { return choice.sweeps > 0 ? std::optional{value} : std::nullopt; };
    metrics.push_back({"regret_median", known(choice.median_regret)});
    metrics.push_back({"regret_worst", known(choice.worst_regret)});
    metrics.push_back({"regret_sweeps", static_cast<double>(choice.sweeps)});
    metrics.push_back({"median_tau", known(choice.median_tau)});
}

void add_metrics(std::vector<Metric>& metrics, std::optional<ScaleValidation> const& scales) {
    auto const known = [&scales](double ScaleSummary::*value) {
        return scales && !scales->rows.empty() ? std::optional{all_of(*scales).*value} : std::nullopt;
    };
    metrics.push_back({"scale_median_absolute_error", known(&ScaleSummary::median_after)});
    metrics.push_back({"scale_p90_absolute_error", known(&ScaleSummary::p90_after)});
    metrics.push_back({"scale_interval_coverage", known(&ScaleSummary::coverage_after)});
}

Json json_of(PlanChoice const& choice, bool left_out) {
    auto const& s = choice.summary;
    auto const known = [&s](double value) { return s.sweeps > 0 ? Json{value} : Json{}; };
    Json sweeps = Json::array();
    for (PlanSweep const& sweep : choice.sweeps) { sweeps.push(sweep_json(sweep)); }
    return Json::object()
        .set("source_left_out", left_out)
        .set("sweeps", s.sweeps)
        .set("plans", s.plans)
        .set("best_chosen", s.best_chosen)
        .set("median_regret", known(s.median_regret))
        .set("worst_regret", known(s.worst_regret))
        .set("median_tau", known(s.median_tau))
        .set("rows", sweeps);
}

Json json_of(ScaleValidation const& scales) {
    Json groups = Json::array(), rows = Json::array();
    for (ScaleSummary const& group : scales.groups) { groups.push(group_json(group)); }
    for (ScaledRun const& row : scales.rows) { rows.push(scaled_json(row)); }
    return Json::object().set("families", scales.families).set("groups", groups).set("rows", rows);
}

void add_choice(std::vector<Block>& blocks, PlanChoice const& choice, bool left_out) {
    auto const& s = choice.summary;
    Table table{.title = "Plan chosen by prediction: regret " + percent(s.median_regret) + " % in the median, " +
                         percent(s.worst_regret) + " % at worst, tau " + significant(s.median_tau),
                .columns = {{"source", Align::left, true},
                            {"model", Align::left, true},
                            {"workers"},
                            {"plans"},
                            {"regret %"},
                            {"repeats %"},
                            {"tau"},
                            {"chosen", Align::left},
                            {"best", Align::left}},
                .rows = {}};
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

Json json_of(UtilizationCheck const& check) {
    Json rows = Json::array();
    for (UtilizationComparison const& row : check.rows) {
        rows.push(Json::object()
                      .set("id", row.run->id)
                      .set("quantity", row.hardware ? "hfu" : "mfu")
                      .set("convention", std::string{name_of(row.run->utilization->convention)})
                      .set("printed", row.printed)
                      .set("ours", row.ours)
                      .set("relative_difference", row.difference()));
    }
    auto const known = [&check](double value) { return check.rows.empty() ? Json{} : Json{value}; };
    return Json::object()
        .set("median_absolute_difference", known(check.median_absolute_difference))
        .set("largest_absolute_difference", known(check.largest_absolute_difference))
        .set("rows", rows);
}

void add_utilization(std::vector<Block>& blocks, UtilizationCheck const& check) {
    std::map<std::pair<std::string, std::string>, UtilizationCheck> parts;
    for (UtilizationComparison const& row : check.rows) {
        std::string const convention{name_of(row.run->utilization->convention)};
        parts[{row.run->source, (row.hardware ? "HFU, " : "MFU, ") + convention + " attention"}].rows.push_back(row);
    }
    Table table{.title = "Operations counted: MFU and HFU of the measured step beside the printed ones",
                .columns = {{"source", Align::left, true},
                            {"quantity", Align::left},
                            {"runs"},
                            {"median %"},
                            {"worst %"},
                            {"worst run", Align::left}},
                .rows = {}};
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
                     .columns = {{all ? "runs that are" : by, Align::left, true},
                                 {"runs"},
                                 {"median %"},
                                 {"warm %"},
                                 {"90th %"},
                                 {"warm %"},
                                 {"inside %"},
                                 {"band"},
                                 {"warm"}},
                     .rows = {}};
        }
        table.rows.push_back(scale_line(group));
    }
    done();
    blocks.emplace_back(
        Paragraph{"one source, model, stack, accelerator, precision and length: " + std::to_string(scales.families) +
                      " families; constants and likeness never saw the source. warm: given the measured step "
                      "of the smallest run; inside: share of runs within their warm interval; band: median "
                      "half-width of the interval",
                  "scales"});
}

Sheet sheet_of(ScaleValidation const& scales) {
    Sheet sheet{{"id", "source", "kind", "accelerator", "anchored_to", "measured_step_seconds",
                 "predicted_step_seconds", "warm_step_seconds", "factor", "relative_error", "warm_relative_error",
                 "inside_interval", "warm_inside_interval", "anchor_outside_interval", "same_replica"},
                {}};
    auto const truth = [](bool is) { return std::string{is ? "true" : "false"}; };
    for (ScaledRun const& row : scales.rows) {
        sheet.rows.push_back({row.run->id, row.run->source, row.run->kind, row.run->accelerator, row.anchor->id,
                              exact(row.run->measured.base()), exact(row.before.base()), exact(row.after.base()),
                              exact(row.factor), exact(row.error_before), exact(row.error_after),
                              truth(row.inside_before), truth(row.inside_after), truth(row.clipped),
                              truth(row.same_replica)});
    }
    return sheet;
}

} // namespace headroom::cli
