#include "validate/reports.hpp"

#include "headroom/document/text.hpp"

#include <map>
#include <utility>

namespace headroom::cli {
namespace {

using fit::LeftServing;
using fit::ServingBothErrors;
using fit::ServingErrors;
using fit::ServingMetric;
using fit::ServingValidation;

constexpr std::array<std::pair<ServingMetric, char const*>, 3> figures{
    {{ServingMetric::ttft, "TTFT"}, {ServingMetric::tpot, "TPOT"}, {ServingMetric::throughput, "throughput"}}};

std::string verdict(ServingValidation const& validation) {
    std::string text;
    for (auto const& [metric, name] : figures) {
        ServingBothErrors const* const errors = validation.errors("all", "all", metric);
        if (errors == nullptr) { continue; }
        ServingErrors const& e = errors->left_out;
        text += (text.empty() ? "Median absolute error without the family of a row, families alike: " : "; ") +
                std::string{name} + " " + percent(e.families_median_absolute_error) + " % (" +
                counted(static_cast<std::size_t>(e.rows), "row") + ", 90th percentile " +
                percent(e.families_p90_absolute_error) + " %, " + percent(errors->coverage) +
                " % inside their intervals)";
    }
    return text.empty() ? "No row can be predicted: reasons below." : text + ".";
}

Table group_table(ServingValidation const& validation, std::string const& by) {
    Table table{.title = by == "all" ? "All rows" : "By " + by,
                .columns = {wrapped(by), left("figure"), "rows", "fam", "in use %", "90th %", "sign %", "left out %",
                            "90th %", "in %"}};
    for (auto const& group : validation.groups) {
        if (group.by != by) { continue; }
        ServingErrors const &in_use = group.errors.in_use, &left_out = group.errors.left_out;
        std::string const figure =
            group.metric == ServingMetric::throughput ? "rate" : std::string{name_of(group.metric)};
        table.rows.push_back({group.name, figure, std::to_string(in_use.rows), std::to_string(in_use.families),
                              percent(in_use.families_median_absolute_error),
                              percent(in_use.families_p90_absolute_error), percent(left_out.median_error),
                              percent(left_out.families_median_absolute_error),
                              percent(left_out.families_p90_absolute_error), percent(group.errors.coverage)});
    }
    return table;
}

/// Reasons with the number of rows, most first.
Table skipped_table(ServingValidation const& validation) {
    std::map<std::string, int> reasons;
    for (LeftServing const& one : validation.skipped) { ++reasons[one.reason]; }
    return reasons_table("Not predicted", "rows", reasons, true);
}

Table refused_table(ServingValidation const& validation) {
    Table table{.title = "Refused: faster than the memory's peak", .columns = {wrapped("id"), wrapped("reason")}};
    for (LeftServing const& one : validation.refused) { table.rows.push_back({one.run->id, one.reason}); }
    return table;
}

} // namespace

std::vector<Metric> metrics_of(fit::ServingValidationAnswer const* answer) {
    std::vector<Metric> metrics;
    for (ServingMetric const metric : fit::serving_metrics) {
        ServingBothErrors const* const errors =
            answer != nullptr ? answer->validation.errors("all", "all", metric) : nullptr;
        std::string const name{name_of(metric)};
        auto const add = [&](char const* key, ServingErrors ServingBothErrors::*part, double ServingErrors::*value) {
            metrics.push_back({name + key, errors != nullptr ? std::optional{errors->*part.*value} : std::nullopt});
        };
        add("_median_absolute_error", &ServingBothErrors::in_use, &ServingErrors::families_median_absolute_error);
        add("_p90_absolute_error", &ServingBothErrors::in_use, &ServingErrors::families_p90_absolute_error);
        add("_left_out_median", &ServingBothErrors::left_out, &ServingErrors::families_median_absolute_error);
        add("_left_out_p90", &ServingBothErrors::left_out, &ServingErrors::families_p90_absolute_error);
        metrics.push_back({name + "_coverage", errors != nullptr ? std::optional{errors->coverage} : std::nullopt});
    }
    for (Metric& metric : metrics) { metric.share = true; }
    return metrics;
}

Document document_of(ServedReport const& report) {
    ServingValidation const& validation = report.answer.validation;
    Document document{"Published serving: " + report.answer.runs_name, {}, footer(report.catalog, report.calibration)};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(validation), "", true});
    if (!validation.rows.empty()) {
        for (char const* by : {"all", "family", "engine", "accelerator", "batch", "precision"}) {
            blocks.emplace_back(group_table(validation, by));
        }
        blocks.emplace_back(Paragraph{
            "absolute error of predicted over measured figure, families weighed alike: the median of their "
            "medians, and the 90th percentile with each row weighed by 1 / rows of its family. In use: by the "
            "constants of the catalog; left out: by constants that never saw the family of the row. Sign: "
            "the median left out over rows, with its sign; TTFT and TPOT above zero are predicted too slow, a "
            "rate of tokens above zero too high. In: share inside the 90 % interval made without the family",
            "columns"});
    }
    add_table(blocks, refused_table(validation));
    add_table(blocks, skipped_table(validation));
    add_issues(blocks, report.answer.issues);
    return document;
}

} // namespace headroom::cli
