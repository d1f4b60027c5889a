#include "validate/validation_report.hpp"

#include "document/text.hpp"
#include "validate/bands_report.hpp"
#include "validate/choice_report.hpp"
#include "validate/dropped_report.hpp"
#include "validate/measures_report.hpp"
#include "validate/memory_report.hpp"
#include "validate/pace_report.hpp"
#include "validate/validation_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>

namespace headroom::cli {
namespace {

constexpr std::size_t worst_shown = 15;

/// Whether any row was predicted: a mean of none does not exist.
bool predicted(ErrorSummary const& summary) { return summary.rows > summary.skipped; }

/// Whether any row counts in the median: predicted, or skipped although it states enough.
bool counted(ErrorSummary const& summary) { return predicted(summary) || summary.median_absolute_error > 0.0; }

/// Share of the rows that state enough that are predicted.
double share_predicted(ErrorSummary const& summary) {
    return static_cast<double>(summary.predicted_of_stating_enough) / summary.states_enough;
}

Json if_any(bool any, double value) { return any ? Json{value} : Json{}; }

Json summary_json(ErrorSummary const& summary) {
    return Json::object()
        .set("rows", summary.rows)
        .set("skipped", summary.skipped)
        .set("dropped", summary.dropped)
        .set("median_absolute_error", if_any(counted(summary), summary.median_absolute_error))
        .set("median_absolute_error_predicted", if_any(predicted(summary), summary.median_absolute_error_predicted))
        .set("p90_absolute_error", if_any(counted(summary), summary.p90_absolute_error))
        .set("mean_error", if_any(predicted(summary), summary.mean_error))
        .set("mean_absolute_error", if_any(predicted(summary), summary.mean_absolute_error))
        .set("states_enough", summary.states_enough)
        .set("predicted_of_stating_enough", if_any(summary.states_enough > 0, share_predicted(summary)))
        .set("interval_coverage", if_any(predicted(summary), summary.interval_coverage));
}

/// The same run in the left-out comparison; both list the same runs in the same order.
RunComparison const* left_out_row(ValidationReport const& report, std::size_t index) {
    return report.left_out ? &report.left_out->rows.at(index) : nullptr;
}

Json row_json(RunComparison const& row, RunComparison const* out) {
    PublishedRun const& run = *row.run;
    bool const measured = run.measured.base() > 0.0;
    return Json::object()
        .set("id", run.id)
        .set("source", run.source)
        .set("kind", run.kind)
        .set("accelerator", run.accelerator)
        .set("strategy_kind", run.strategy_kind)
        .set("framework", run.question ? Json{run.question->framework.name} : Json{})
        .set("pace", row.predicted ? Json{row.pace} : Json{})
        .set("anchored_to", row.anchor != nullptr ? Json{row.anchor->id} : Json{})
        .set("predicted_step_seconds", row.predicted ? Json{row.predicted->base()} : Json{})
        .set("measured_step_seconds", measured ? Json{run.measured.base()} : Json{})
        .set("measured_from", run.measured_from.empty() ? Json{} : Json{run.measured_from})
        .set("relative_error", row.relative_error)
        .set("inside_interval", row.predicted ? Json{row.inside_interval} : Json{})
        .set("left_out_relative_error", out != nullptr ? Json{out->relative_error} : Json{})
        .set("left_out_inside_interval", out != nullptr && out->predicted ? Json{out->inside_interval} : Json{})
        .set("left_out_kind", out != nullptr && out->predicted ? Json{name_of(out->extrapolation)} : Json{})
        .set("left_out_half_width", out != nullptr && out->predicted ? Json{out->band.half_width()} : Json{})
        .set("inferred", run.question ? Json{run.structural_assumption} : Json{})
        .set("assumed", Json::array_of(run.assumed))
        .set("states_enough", run.states_enough)
        .set("skipped_reason", run.skipped_reason.empty() ? Json{} : Json{run.skipped_reason})
        .set("dropped_by", run.counts() ? Json{} : Json{run.dropped_by})
        .set("dropped_because", run.counts() ? Json{} : Json{run.dropped_because});
}

std::string runs_words(ErrorSummary const& s) {
    std::string const dropped = s.dropped > 0 ? ", " + std::to_string(s.dropped) + " suspect ones dropped" : "";
    return std::to_string(s.rows) + (s.rows == 1 ? " run" : " runs") + " (" + std::to_string(s.skipped) + " skipped" +
           dropped + ")";
}

std::string verdict(ValidationReport const& report) {
    ErrorSummary const& s = report.validation.summary;
    if (!predicted(s)) { return "No run can be predicted: " + runs_words(s) + ", reasons below."; }
    std::string text = "Median absolute error of the step: " + percent(s.median_absolute_error) + " %";
    if (report.left_out) {
        text +=
            " in sample, " + percent(report.left_out->summary.median_absolute_error) + " % with each source left out";
    }
    return text + ", over " + runs_words(s) + ".";
}

std::string coverage_words(ErrorSummary const& s) {
    return std::to_string(s.predicted_of_stating_enough) + " of " + std::to_string(s.states_enough) +
           " runs that state enough are predicted (" + percent(share_predicted(s)) +
           " %); median absolute error of all that are predicted " + percent(s.median_absolute_error_predicted) + " %";
}

/// The same group of the left-out comparison; both list the same groups in the same order.
ErrorSummary const* left_out_group(ValidationReport const& report, std::size_t index) {
    return report.left_out ? &report.left_out->groups.at(index).summary : nullptr;
}

/// The constants a line of a summary stands for.
constexpr char const* in_sample = "in sample";
constexpr char const* source_left_out = "source left out";

void add_summary(Table& table, std::string const& name, ErrorSummary const& s, char const* constants) {
    bool const some = predicted(s);
    table.rows.push_back({name, constants, std::to_string(s.rows), std::to_string(s.skipped),
                          counted(s) ? percent(s.median_absolute_error) : "-",
                          counted(s) ? percent(s.p90_absolute_error) : "-", some ? percent(s.mean_error) : "-",
                          some ? percent(s.interval_coverage) : "-"});
}

/// Every kind of model and all of them, in sample and left out one below the other.
Table kinds_table(ValidationReport const& report) {
    Table table{.title = "Error of the step, by kind of model",
                .columns = {{"kind", Align::left},
                            {"constants", Align::left},
                            {"runs"},
                            {"skipped"},
                            {"median %"},
                            {"90th %"},
                            {"mean %"},
                            {"inside %"}},
                .rows = {}};
    for (std::size_t i = 0; i < report.validation.groups.size(); ++i) {
        ErrorGroup const& group = report.validation.groups[i];
        if (group.by != "kind") { continue; }
        add_summary(table, group.name, group.summary, in_sample);
        if (ErrorSummary const* out = left_out_group(report, i)) { add_summary(table, "", *out, source_left_out); }
    }
    add_summary(table, "all", report.validation.summary, in_sample);
    if (report.left_out) { add_summary(table, "", report.left_out->summary, source_left_out); }
    return table;
}

/// Mixtures and hybrids by what the constants had not seen: nothing, the model, the source.
Table mixtures_table(ValidationReport const& report) {
    Table table{.title = "Mixtures and hybrids, by what was left out of the fit",
                .columns = {{"constants", Align::left}, {"runs"}, {"median %"}, {"90th %"}, {"mean %"}, {"inside %"}},
                .rows = {}};
    auto const mixtures = [](Validation const& validation) {
        std::vector<RunComparison> rows;
        std::ranges::copy_if(validation.rows, std::back_inserter(rows),
                             [](RunComparison const& row) { return !mixture_of(*row.run).empty(); });
        return summarise(rows);
    };
    auto const add = [&table](char const* constants, ErrorSummary const& s) {
        if (!predicted(s)) { return; }
        table.rows.push_back({constants, std::to_string(s.rows), percent(s.median_absolute_error),
                              percent(s.p90_absolute_error), percent(s.mean_error), percent(s.interval_coverage)});
    };
    if (!report.left_out || !report.models_left_out) { return table; }
    add(in_sample, mixtures(report.validation));
    add("model left out", mixtures(*report.models_left_out));
    add(source_left_out, mixtures(*report.left_out));
    return table;
}

/// What the groups of a kind are, and the heading of their names.
std::pair<std::string, std::string> titles_of(std::string const& by) {
    if (by == "states enough") { return {"Runs that state enough, by kind of model", "kind"}; }
    if (by == "given the 1-worker row") { return {"Scaling, given the measured step on one worker", "kind"}; }
    if (by == "assumed") { return {"Runs with an assumed dimension, batch, degree or recomputation", "runs that are"}; }
    if (by == "trained") { return {"By what is trained", "trained"}; }
    return {"By " + by, by};
}

/// A table each for sources, accelerators, strategies...
std::vector<Table> groups_tables(ValidationReport const& report) {
    std::vector<Table> tables;
    std::string by;
    for (std::size_t i = 0; i < report.validation.groups.size(); ++i) {
        ErrorGroup const& group = report.validation.groups[i];
        if (group.by == "kind") { continue; } // stands above
        if (tables.empty() || group.by != by) {
            by = group.by;
            auto const [title, heading] = titles_of(by);
            tables.push_back({.title = title,
                              .columns = {{heading, Align::left, true},
                                          {"runs"},
                                          {"skipped"},
                                          {"median %"},
                                          {"left out %"},
                                          {"mean %"},
                                          {"inside %"}},
                              .rows = {}});
        }
        ErrorSummary const& s = group.summary;
        ErrorSummary const* out = left_out_group(report, i);
        tables.back().rows.push_back({group.name, std::to_string(s.rows), std::to_string(s.skipped),
                                      counted(s) ? percent(s.median_absolute_error) : "-",
                                      out != nullptr && counted(*out) ? percent(out->median_absolute_error) : "-",
                                      predicted(s) ? percent(s.mean_error) : "-",
                                      predicted(s) ? percent(s.interval_coverage) : "-"});
    }
    return tables;
}

Table worst_table(std::vector<RunComparison> const& rows) {
    std::vector<RunComparison const*> known;
    for (RunComparison const& row : rows) {
        if (row.relative_error && row.run->counts()) { known.push_back(&row); }
    }
    std::stable_sort(known.begin(), known.end(), [](RunComparison const* a, RunComparison const* b) {
        return std::abs(*a->relative_error) > std::abs(*b->relative_error);
    });
    known.resize(std::min(known.size(), worst_shown));
    Table table{.title = "Worst runs",
                .columns = {{"id", Align::left},
                            {"source", Align::left, true},
                            {"accelerator", Align::left, true},
                            {"measured s"},
                            {"predicted s"},
                            {"error %"}},
                .rows = {}};
    for (RunComparison const* row : known) {
        table.rows.push_back({row->run->id, row->run->source, row->run->accelerator,
                              significant(row->run->measured.base()), significant(row->predicted->base()),
                              percent(*row->relative_error)});
    }
    return table;
}

Table skipped_table(std::vector<RunComparison> const& rows) {
    std::map<std::string, std::pair<int, int>> reasons; // all, and those that state enough
    for (RunComparison const& row : rows) {
        if (row.run->skipped_reason.empty() || !row.run->counts()) { continue; }
        auto& [all, enough] = reasons[row.run->skipped_reason];
        ++all;
        enough += row.run->states_enough ? 1 : 0;
    }
    Table table{.title = "Skipped", .columns = {{"runs"}, {"state enough"}, {"reason", Align::left, true}}, .rows = {}};
    for (auto const& [reason, counts] : reasons) {
        table.rows.push_back({std::to_string(counts.first), std::to_string(counts.second), reason});
    }
    std::stable_sort(table.rows.begin(), table.rows.end(),
                     [](auto const& a, auto const& b) { return std::stoi(a[0]) > std::stoi(b[0]); });
    return table;
}

std::string left_out_words(ValidationReport const& report) {
    if (!report.left_out) { return "not known for these constants; headroom validate --leave-one-source-out finds it"; }
    return std::string{"constants fitted without any run of the source that is predicted: what to expect of a machine "
                       "or a team that the fit has not seen"} +
           (report.refitted ? ", refitted now" : "");
}

} // namespace

std::vector<Metric> metrics_of(ErrorSummary const& summary, MemorySummary const& memory,
                               std::optional<ErrorSummary> const& left_out, PlanChoiceSummary const& choice,
                               std::optional<ScaleValidation> const& scales) {
    auto const out = [&left_out](auto&& value) {
        return left_out ? std::optional<double>{value(*left_out)} : std::nullopt;
    };
    std::vector<Metric> metrics{
        {"median_absolute_error", summary.median_absolute_error},
        {"p90_absolute_error", summary.p90_absolute_error},
        {"mean_error", summary.mean_error},
        {"mean_absolute_error", summary.mean_absolute_error},
        {"interval_coverage", summary.interval_coverage},
        {"skipped", static_cast<double>(summary.skipped)},
        {"memory_median_absolute_error", memory.rows > 0 ? std::optional{memory.median_absolute_error} : std::nullopt},
        {"left_out_median_absolute_error", out([](ErrorSummary const& s) { return s.median_absolute_error; })},
        {"predicted_of_stating_enough",
         summary.states_enough > 0 ? std::optional{share_predicted(summary)} : std::nullopt},
        {"left_out_mean_error", out([](ErrorSummary const& s) { return s.mean_error; })}};
    add_metrics(metrics, choice);
    add_metrics(metrics, scales);
    return metrics;
}

Json json_of(ValidationReport const& report) {
    Json rows = Json::array(), groups = Json::array();
    for (std::size_t i = 0; i < report.validation.rows.size(); ++i) {
        rows.push(row_json(report.validation.rows[i], left_out_row(report, i)));
    }
    for (std::size_t i = 0; i < report.validation.groups.size(); ++i) {
        ErrorGroup const& group = report.validation.groups[i];
        ErrorSummary const* out = left_out_group(report, i);
        Json one = Json::object();
        one.set("by", group.by)
            .set("name", group.name)
            .set("rows", group.summary.rows)
            .set("skipped", group.summary.skipped)
            .set("dropped", group.summary.dropped)
            .set("median_absolute_error", if_any(counted(group.summary), group.summary.median_absolute_error))
            .set("median_absolute_error_predicted",
                 if_any(predicted(group.summary), group.summary.median_absolute_error_predicted))
            .set("p90_absolute_error", if_any(counted(group.summary), group.summary.p90_absolute_error))
            .set("left_out_median_absolute_error",
                 out != nullptr ? if_any(counted(*out), out->median_absolute_error) : Json{})
            .set("mean_error", if_any(predicted(group.summary), group.summary.mean_error))
            .set("interval_coverage", if_any(predicted(group.summary), group.summary.interval_coverage));
        groups.push(std::move(one));
    }
    Json json = result_head("validate", report.catalog, report.calibration);
    json.set("runs", report.runs_name)
        .set("summary", summary_json(report.validation.summary))
        .set("left_out", report.left_out ? summary_json(report.left_out->summary) : Json{})
        .set("models_left_out", report.models_left_out ? summary_json(report.models_left_out->summary) : Json{})
        .set("free_constants", report.free_constants)
        .set("dropped", dropped_json(report.validation))
        .set("bands", bands_json(report))
        .set("groups", groups)
        .set("memory", memory_json(report.validation))
        .set("paces", paces_json(report))
        .set("regret", json_of(report.choice, report.left_out.has_value()))
        .set("utilization", json_of(report.utilization))
        .set("leave_one_scale", report.scales && report.asked_for_scales ? json_of(*report.scales) : Json{})
        .set("measures", measures_json(report.measures))
        .set("rows", rows);
    if (!report.gates.empty()) { json.set("gates", gates_json(report.gates)); }
    if (report.wall_seconds) { json.set("stats", stats_json(*report.wall_seconds)); }
    return json;
}

Document document_of(ValidationReport const& report) {
    Document document{"Validation: " + report.runs_name, {}, footer(report.catalog, report.calibration)};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(report), "", true});
    blocks.emplace_back(kinds_table(report));
    blocks.emplace_back(Paragraph{"the constants in use", in_sample});
    blocks.emplace_back(Paragraph{left_out_words(report), source_left_out});
    blocks.emplace_back(
        Paragraph{"median and 90th percentile of the absolute error; the mean keeps the sign (above "
                  "zero: predicted too slow); inside: share of runs within their interval; left out: the "
                  "median with the source left out",
                  "columns"});
    blocks.emplace_back(Paragraph{std::to_string(report.free_constants) +
                                      " that the fit was free to move: constants that all runs share, and the pace of "
                                      "each stack whose kernels are its own",
                                  "free constants"});
    if (report.validation.summary.states_enough > 0 && predicted(report.validation.summary)) {
        blocks.emplace_back(Paragraph{coverage_words(report.validation.summary), "coverage"});
    }
    blocks.emplace_back(Paragraph{"a skipped run that states enough counts as a 100 % error in every median", "rule"});
    if (!report.measures.empty()) {
        blocks.emplace_back(measures_table(report.measures));
        blocks.emplace_back(Paragraph{
            "transformers without experts on data-centre GPUs, trained whole, with their state on the "
            "accelerator, vTrain's small models on one node only where named; specified: no dimension, batch, "
            "degree, virtual stage or recomputation assumed; kept: with suspect runs",
            "dense"});
    }
    if (auto chart = error_chart(report.validation.rows)) { blocks.emplace_back(std::move(*chart)); }
    for (Table& table : std::array{mixtures_table(report), bands_table(report)}) {
        if (!table.rows.empty()) { blocks.emplace_back(std::move(table)); }
    }
    for (Table& table : groups_tables(report)) { blocks.emplace_back(std::move(table)); }
    if (Table paces = pace_table(report); !paces.rows.empty()) {
        blocks.emplace_back(std::move(paces));
        blocks.emplace_back(
            Paragraph{"times the computation that the shared constants give, fitted to the runs of that "
                      "stack (above 1: slower); then what it is without each source of these runs, '-' "
                      "where no other source is left, and 1 is taken",
                      "factor"});
    }
    if (report.scales && report.asked_for_scales) { add_scales(blocks, *report.scales); }
    if (!report.choice.sweeps.empty()) { add_choice(blocks, report.choice, report.left_out.has_value()); }
    if (!report.utilization.rows.empty()) { add_utilization(blocks, report.utilization); }
    if (report.validation.memory.rows > 0) { blocks.emplace_back(memory_table(report.validation)); }
    Table worst = worst_table(report.validation.rows);
    if (!worst.rows.empty()) { blocks.emplace_back(std::move(worst)); }
    Table dropped = dropped_table(report.validation);
    if (!dropped.rows.empty()) { blocks.emplace_back(std::move(dropped)); }
    Table skipped = skipped_table(report.validation.rows);
    if (!skipped.rows.empty()) { blocks.emplace_back(std::move(skipped)); }
    return document;
}

Sheet sheet_of(ValidationReport const& report) {
    if (report.scales && report.asked_for_scales) { return sheet_of(*report.scales); }
    Sheet sheet{{"id",
                 "source",
                 "kind",
                 "accelerator",
                 "framework",
                 "pace",
                 "anchored_to",
                 "predicted_step_seconds",
                 "measured_step_seconds",
                 "measured_from",
                 "relative_error",
                 "inside_interval",
                 "left_out_relative_error",
                 "left_out_kind",
                 "left_out_half_width",
                 "left_out_inside_interval",
                 "inferred",
                 "assumed",
                 "skipped_reason",
                 "dropped_by",
                 "dropped_because"},
                {}};
    for (std::size_t i = 0; i < report.validation.rows.size(); ++i) {
        RunComparison const& row = report.validation.rows[i];
        RunComparison const* out = left_out_row(report, i);
        PublishedRun const& run = *row.run;
        sheet.rows.push_back({run.id,
                              run.source,
                              run.kind,
                              run.accelerator,
                              run.question ? run.question->framework.name : "",
                              row.predicted ? exact(row.pace) : "",
                              row.anchor != nullptr ? row.anchor->id : "",
                              row.predicted ? exact(row.predicted->base()) : "",
                              run.measured.base() > 0.0 ? exact(run.measured.base()) : "",
                              run.measured_from,
                              row.relative_error ? exact(*row.relative_error) : "",
                              row.predicted ? (row.inside_interval ? "true" : "false") : "",
                              out != nullptr && out->relative_error ? exact(*out->relative_error) : "",
                              out != nullptr && out->predicted ? std::string{name_of(out->extrapolation)} : "",
                              out != nullptr && out->predicted ? exact(out->band.half_width()) : "",
                              out != nullptr && out->predicted ? (out->inside_interval ? "true" : "false") : "",
                              run.question ? (run.structural_assumption ? "true" : "false") : "",
                              join(run.assumed, "; "),
                              run.skipped_reason,
                              run.dropped_by,
                              run.dropped_because});
    }
    return sheet;
}

} // namespace headroom::cli
