#include "validate/serving_report.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace headroom::cli {

namespace {

using fit::LeftServing;
using fit::ServingErrors;
using fit::ServingMetric;
using fit::ServingValidation;

constexpr std::array<std::pair<ServingMetric, char const*>, 3> figures{
    {{ServingMetric::ttft, "TTFT"}, {ServingMetric::tpot, "TPOT"}, {ServingMetric::throughput, "throughput"}}};

std::string verdict(ServingValidation const& validation) {
    std::string text;
    for (auto const& [metric, name] : figures) {
        ServingErrors const* const errors = validation.errors("all", "all", metric);
        if (errors == nullptr) { continue; }
        text += (text.empty() ? "Median absolute error, families alike: " : "; ") + std::string{name} + " " +
                percent(errors->families_median_absolute_error) + " % (" +
                counted(static_cast<std::size_t>(errors->rows), "row") + ", 90th percentile " +
                percent(errors->families_p90_absolute_error) + " %)";
    }
    return text.empty() ? "No row can be predicted: reasons below." : text + ".";
}

Table group_table(ServingValidation const& validation, std::string const& by) {
    Table table{
        .title = by == "all" ? "All rows" : "By " + by,
        .columns = {{by, Align::left, true}, {"figure", Align::left}, {"rows"}, {"sign %"}, {"med %"}, {"90th %"}},
        .rows = {}};
    bool const family = by == "family";
    if (!family) { table.columns.insert(table.columns.end(), {{"fam"}, {"alike %"}, {"90th %"}}); }
    for (auto const& group : validation.groups) {
        if (group.by != by) { continue; }
        ServingErrors const& e = group.errors;
        std::vector<std::string> cells{group.name,
                                       std::string{name_of(group.metric)},
                                       std::to_string(e.rows),
                                       percent(e.median_error),
                                       percent(e.median_absolute_error),
                                       percent(e.p90_absolute_error)};
        if (!family) {
            cells.insert(cells.end(), {std::to_string(e.families), percent(e.families_median_absolute_error),
                                       percent(e.families_p90_absolute_error)});
        }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

/// Reasons with the number of rows, most first.
Table skipped_table(ServingValidation const& validation) {
    std::map<std::string, int> reasons;
    for (LeftServing const& one : validation.skipped) { ++reasons[one.reason]; }
    Table table{.title = "Not predicted", .columns = {{"rows"}, {"reason", Align::left, true}}, .rows = {}};
    for (auto const& [reason, count] : reasons) { table.rows.push_back({std::to_string(count), reason}); }
    std::ranges::stable_sort(table.rows, std::ranges::greater{}, [](auto const& row) { return std::stoi(row[0]); });
    return table;
}

Table refused_table(ServingValidation const& validation) {
    Table table{.title = "Refused: faster than the memory's peak",
                .columns = {{"id", Align::left, true}, {"reason", Align::left, true}},
                .rows = {}};
    for (LeftServing const& one : validation.refused) { table.rows.push_back({one.run->id, one.reason}); }
    return table;
}

} // namespace

std::vector<Metric> metrics_of(fit::ServingValidationAnswer const* answer) {
    std::vector<Metric> metrics;
    for (ServingMetric const metric : fit::serving_metrics) {
        ServingErrors const* const errors =
            answer != nullptr ? answer->validation.errors("all", "all", metric) : nullptr;
        auto const known = [errors](double ServingErrors::*value) {
            return errors != nullptr ? std::optional{errors->*value} : std::nullopt;
        };
        std::string const name{name_of(metric)};
        metrics.push_back({name + "_median_absolute_error", known(&ServingErrors::families_median_absolute_error)});
        metrics.push_back({name + "_p90_absolute_error", known(&ServingErrors::families_p90_absolute_error)});
    }
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
        blocks.emplace_back(
            Paragraph{"predicted over measured figure, less 1: TTFT and TPOT above zero are predicted too slow, a "
                      "throughput above zero too high. Alike: families weighed alike, the median of their medians, "
                      "and the 90th percentile with each row weighed by 1 / rows of its family",
                      "columns"});
    }
    if (Table refused = refused_table(validation); !refused.rows.empty()) { blocks.emplace_back(std::move(refused)); }
    if (Table skipped = skipped_table(validation); !skipped.rows.empty()) { blocks.emplace_back(std::move(skipped)); }
    add_issues(blocks, report.answer.issues);
    return document;
}

} // namespace headroom::cli
