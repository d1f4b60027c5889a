#include "validate/reports.hpp"

#include "headroom/document/text.hpp"
#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace headroom::cli {

Table reasons_table(char const* title, char const* counted, std::map<std::string, int> const& reasons,
                    bool most_first) {
    Table table{.title = title, .columns = {counted, wrapped("reason")}};
    std::vector<std::pair<std::string, int>> rows{reasons.begin(), reasons.end()};
    if (most_first) { std::ranges::stable_sort(rows, std::ranges::greater{}, &std::pair<std::string, int>::second); }
    for (auto const& [reason, count] : rows) { table.rows.push_back({std::to_string(count), reason}); }
    return table;
}

namespace {

/// The line over all rows that a left-out source has in common with such a kind.
BandSummary over(std::vector<RunComparison> rows, bool (*holds)(RunComparison const&)) {
    std::erase_if(rows, [holds](RunComparison const& row) { return !holds(row); });
    for (RunComparison& row : rows) { row.extrapolation = Extrapolation::seen; }
    auto const one = summarise_bands(rows);
    return one.empty() ? BandSummary{} : one.front();
}

bool is_dense_and_stated(RunComparison const& row) {
    return row.run->kind == "dense" && row.run->counts() && !row.run->structural_assumption;
}

} // namespace

Table bands_table(ValidationAnswer const& answer) {
    Table table{
        .title = "90 % intervals, each made without the source (or mixture) it is for",
        .columns = {wrapped("what the fit had not seen"), "runs", "sources", "inside %", "half-width x", "median %"}};
    if (!answer.left_out) { return table; }
    auto const add = [&table](std::string name, BandSummary const& s) {
        if (s.rows == 0) { return; }
        table.rows.push_back({std::move(name), std::to_string(s.rows), std::to_string(s.sources), percent(s.coverage),
                              significant(s.median_half_width), percent(s.median_absolute_error)});
    };
    for (BandSummary const& summary : bands_of(answer)) { add(std::string{words_of(summary.kind)}, summary); }
    add("dense, every field stated", over(answer.left_out->rows, is_dense_and_stated));
    add("all with their source left out", over(answer.left_out->rows, [](RunComparison const&) { return true; }));
    return table;
}

namespace {

std::string figure_words(AccuracyFigure const& figure, double value) {
    return figure.name == "half-width" ? "x" + significant(value) : percent(value) + " %";
}

std::string bar_words(AccuracyFigure const& figure) {
    std::string const most = figure_words(figure, figure.bar);
    return figure.least ? percent(*figure.least) + " to " + most : most;
}

} // namespace

Table measures_table(std::vector<AccuracyMeasure> const& measures) {
    Table table{.title = "What the step model is held to",
                .columns = {wrapped("runs that are"), left("constants"), "runs", left("figure"), "reached", "bar",
                            left(""), "kept"}};
    for (AccuracyMeasure const& measure : measures) {
        bool first = true;
        for (AccuracyFigure const& figure : measure.figures) {
            table.rows.push_back({first ? measure.name : "", first ? measure.constants : "",
                                  first ? std::to_string(measure.rows) : "", figure.name,
                                  figure_words(figure, figure.value), bar_words(figure), figure.holds() ? "" : "missed",
                                  figure.with_suspects ? figure_words(figure, *figure.with_suspects) : ""});
            first = false;
        }
    }
    return table;
}

namespace {

/// Whether any of the compared runs is of this framework.
bool used(ValidationAnswer const& answer, std::string const& framework) {
    return std::ranges::any_of(answer.validation.rows, [&framework](RunComparison const& row) {
        return row.run->question && row.run->question->framework.name == framework;
    });
}

} // namespace

Table pace_table(ValidationAnswer const& answer) {
    Table table{.title = "Pace of frameworks with kernels of their own",
                .columns = {left("framework"), "factor", "runs", "sources", wrapped("factor without source")}};
    for (auto const& [framework, pace] : answer.pace) {
        if (!used(answer, framework)) { continue; }
        std::vector<std::string> without;
        for (auto const& [source, factor] : pace_without_each(answer, framework)) {
            without.push_back(source + " " + (factor ? significant(*factor) : "-"));
        }
        table.rows.push_back({framework, significant(pace.factor), std::to_string(pace.rows),
                              std::to_string(pace.sources), join(without, ", ")});
    }
    return table;
}

namespace {

std::vector<std::string> ids_of(DroppedRows const& dropped) {
    std::vector<std::string> ids;
    for (PublishedRun const* run : dropped.runs) { ids.push_back(run->id); }
    return ids;
}

} // namespace

Table dropped_table(Validation const& validation) {
    Table table{.title = "Suspect runs, dropped by the rules of validation/README.md",
                .columns = {left("rule"), "runs", wrapped("ids"), wrapped("what was found of the first")}};
    for (DroppedRows const& dropped : dropped_rows(validation.rows)) {
        table.rows.push_back({dropped.rule, std::to_string(dropped.runs.size()), join(ids_of(dropped), ", "),
                              dropped.runs.front()->dropped_because});
    }
    return table;
}

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
    auto const done = [&] { add_table(blocks, std::move(table)); };
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
