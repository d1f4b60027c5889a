#include "validate/communication_report.hpp"

#include "validate/communication_chart.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace headroom::cli {

using namespace headroom::network;

namespace {

using fit::CommunicationComparison;
using fit::CommunicationGroup;
using fit::CommunicationSummary;

std::string shown_percent(std::optional<double> const& value) { return value ? percent(*value) : "-"; }
std::string shown(std::optional<double> const& value) { return value ? significant(*value) : "-"; }

std::string verdict(CommunicationReport const& report) {
    CommunicationSummary const& s = report.answer.validation.summary;
    std::string text = s.median_absolute_error_fitted
                           ? "Fitted on every second size, the others are predicted with a median error of " +
                                 percent(*s.median_absolute_error_fitted) + " % (" + std::to_string(s.rows_fitted) +
                                 " rows). "
                           : "No group has enough sizes to be fitted. ";
    if (!s.median_factor_unfitted) { return text + "Nothing is priced from the catalog: reasons below."; }
    return text + "From the catalog alone: off by a median factor of " + significant(*s.median_factor_unfitted) + " (" +
           std::to_string(s.rows_unfitted) + " rows), " + shown(s.median_factor_above_1_mb) + " above 1 MB and " +
           shown(s.median_factor_up_to_1_mb) + " up to it.";
}

/// Groups of more than one row, those of a system and collective together.
std::vector<CommunicationGroup const*> listed_groups(CommunicationReport const& report) {
    std::vector<CommunicationGroup const*> listed;
    for (CommunicationGroup const& group : report.answer.validation.groups) {
        if (group.summary.rows > 1) { listed.push_back(&group); }
    }
    std::ranges::stable_sort(listed, {}, [](CommunicationGroup const* group) {
        return std::tuple{std::string_view{group->system}, group->collective, group->nodes, group->ranks};
    });
    return listed;
}

Table groups_table(std::vector<CommunicationGroup const*> const& groups) {
    Table table{.title = "By system and collective",
                .columns = {wrapped("system"), left("collective"), "ranks", "nodes", "rows", "fitted %", "x > 1 MB",
                            "x <= 1 MB"}};
    for (CommunicationGroup const* const group : groups) {
        CommunicationSummary const& s = group->summary;
        table.rows.push_back({group->system, std::string{name_of(group->collective)}, std::to_string(group->ranks),
                              std::to_string(group->nodes), std::to_string(s.rows),
                              shown_percent(s.median_absolute_error_fitted), shown(s.median_factor_above_1_mb),
                              shown(s.median_factor_up_to_1_mb)});
    }
    return table;
}

void add_groups(std::vector<Block>& blocks, CommunicationReport const& report) {
    std::vector<CommunicationGroup const*> const listed = listed_groups(report);
    if (!listed.empty()) { blocks.emplace_back(groups_table(listed)); }
    std::size_t const single = report.answer.validation.groups.size() - listed.size();
    if (single > 0) {
        blocks.emplace_back(Paragraph{counted(single, "group") + " of one row: --format json", "not listed"});
    }
}

/// Reasons with the number of rows, most first.
Table skipped_table(CommunicationReport const& report) {
    std::map<std::string, int> reasons;
    for (CommunicationComparison const& one : report.answer.validation.rows) {
        if (!one.unfitted.skipped_reason.empty()) { ++reasons["unfitted: " + one.unfitted.skipped_reason]; }
        std::string const& fit = report.answer.validation.groups[one.group].fit_skipped_reason;
        if (!fit.empty()) { ++reasons["fitted: " + fit]; }
    }
    for (Issue const& rows : report.answer.not_read) {
        reasons["not read: " + rows.kind + ", first in line " + std::to_string(rows.line)] +=
            static_cast<int>(rows.count);
    }
    Table table{.title = "Skipped", .columns = {"rows", wrapped("reason")}};
    for (auto const& [reason, count] : reasons) { table.rows.push_back({std::to_string(count), reason}); }
    std::stable_sort(table.rows.begin(), table.rows.end(),
                     [](auto const& a, auto const& b) { return std::stoi(a[0]) > std::stoi(b[0]); });
    return table;
}

} // namespace

std::vector<Metric> metrics_of(fit::CommunicationAnswer const* answer) {
    return metrics_of(field_table_of(answer), answer,
                      {{"median_absolute_error_fitted", "summary.median_absolute_error_fitted"},
                       {"median_factor_unfitted", "summary.median_factor_unfitted"},
                       {"median_factor_above_1_mb", "summary.median_factor_above_1_mb"},
                       {"median_factor_up_to_1_mb", "summary.median_factor_up_to_1_mb"},
                       {"rows", "summary.rows"},
                       {"skipped", "summary.skipped"}});
}

Document document_of(CommunicationReport const& report) {
    Document document{"Validation of collectives: " + report.answer.table_name, {}, footer(report.catalog, "")};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(report), "", true});
    blocks.emplace_back(Paragraph{"straight segments through every second size of a group; the sizes between are "
                                  "predicted, median absolute error",
                                  "fitted"});
    blocks.emplace_back(
        Paragraph{"NCCL's own model with published constants, and a published floor of latency for "
                  "each fabric; nothing is fitted; 1.3 means a third too slow or too fast, in the median",
                  "x"});
    if (auto chart = ratio_chart(report.answer.validation.rows)) { blocks.emplace_back(std::move(*chart)); }
    add_groups(blocks, report);
    Table skipped = skipped_table(report);
    if (!skipped.rows.empty()) { blocks.emplace_back(std::move(skipped)); }
    return document;
}

} // namespace headroom::cli
