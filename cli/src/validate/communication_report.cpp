#include "validate/communication_report.hpp"

#include "document/text.hpp"
#include "validate/communication_chart.hpp"

#include <algorithm>
#include <map>

namespace headroom::cli {
namespace {

using fit::CommunicationComparison;
using fit::CommunicationGroup;
using fit::CommunicationSummary;

int unread(CommunicationReport const& report) {
    int count = 0;
    for (io::LogTrouble const& trouble : report.log.troubles) { count += static_cast<int>(trouble.count); }
    return count;
}

Json seconds_json(std::optional<Seconds> const& seconds) { return seconds ? Json{seconds->base()} : Json{}; }

std::optional<double> relative_error(CommunicationComparison const& one) {
    if (!one.fitted) { return std::nullopt; }
    return one.fitted->base() / one.row->time.base() - 1.0;
}

std::optional<double> ratio(CommunicationComparison const& one) {
    if (!one.unfitted.seconds) { return std::nullopt; }
    return one.unfitted.seconds->base() / one.row->time.base();
}

Json reason_json(std::string const& reason) { return reason.empty() ? Json{} : Json{reason}; }

Json summary_json(CommunicationSummary const& summary, int unread_rows) {
    return Json::object()
        .set("rows", summary.rows + unread_rows)
        .set("skipped", summary.skipped + unread_rows)
        .set("rows_fitted", summary.rows_fitted)
        .set("rows_unfitted", summary.rows_unfitted)
        .set("median_absolute_error_fitted", summary.median_absolute_error_fitted)
        .set("median_factor_unfitted", summary.median_factor_unfitted)
        .set("median_factor_above_1_mb", summary.median_factor_above_1_mb)
        .set("median_factor_up_to_1_mb", summary.median_factor_up_to_1_mb);
}

Json group_json(CommunicationGroup const& group) {
    Json json = summary_json(group.summary, 0);
    json.set("by", "system and collective")
        .set("name", group.system)
        .set("system", group.system)
        .set("interconnect", group.interconnect)
        .set("collective", std::string{name_of(group.collective)})
        .set("ranks", group.ranks)
        .set("nodes", group.nodes)
        .set("sizes", static_cast<int>(group.sizes))
        .set("fit_skipped_reason", reason_json(group.fit_skipped_reason));
    return json;
}

Json row_json(CommunicationComparison const& one) {
    MeasuredCollective const& row = *one.row;
    return Json::object()
        .set("id", row.id)
        .set("line", static_cast<int>(row.line))
        .set("group", static_cast<int>(one.group))
        .set("system", row.system)
        .set("collective", std::string{name_of(row.collective)})
        .set("ranks", row.ranks)
        .set("nodes", row.nodes)
        .set("size_bytes", row.size.size.base())
        .set("measured_seconds", row.time.base())
        .set("fitted_on", one.fitted_on)
        .set("fitted_seconds", seconds_json(one.fitted))
        .set("relative_error_fitted", relative_error(one))
        .set("unfitted_seconds", seconds_json(one.unfitted.seconds))
        .set("unfitted_ratio", ratio(one))
        .set("unfitted_by", one.unfitted.how)
        .set("skipped_reason", reason_json(one.unfitted.skipped_reason))
        .set("source", row.source);
}

std::string shown_percent(std::optional<double> const& value) { return value ? percent(*value) : "-"; }
std::string shown(std::optional<double> const& value) { return value ? significant(*value) : "-"; }

std::string verdict(CommunicationReport const& report) {
    CommunicationSummary const& s = report.validation.summary;
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

Table groups_table(CommunicationReport const& report) {
    Table table{.title = "By system and collective",
                .columns = {{"system", Align::left, true},
                            {"collective", Align::left},
                            {"ranks"},
                            {"nodes"},
                            {"rows"},
                            {"fitted %"},
                            {"factor > 1 MB"},
                            {"factor <= 1 MB"}},
                .rows = {}};
    for (CommunicationGroup const& group : report.validation.groups) {
        CommunicationSummary const& s = group.summary;
        table.rows.push_back({group.system, std::string{name_of(group.collective)}, std::to_string(group.ranks),
                              std::to_string(group.nodes), std::to_string(s.rows),
                              shown_percent(s.median_absolute_error_fitted), shown(s.median_factor_above_1_mb),
                              shown(s.median_factor_up_to_1_mb)});
    }
    return table;
}

/// Reasons with the number of rows, most first.
Table skipped_table(CommunicationReport const& report) {
    std::map<std::string, int> reasons;
    for (CommunicationComparison const& one : report.validation.rows) {
        if (!one.unfitted.skipped_reason.empty()) { ++reasons["unfitted: " + one.unfitted.skipped_reason]; }
        std::string const& fit = report.validation.groups[one.group].fit_skipped_reason;
        if (!fit.empty()) { ++reasons["fitted: " + fit]; }
    }
    for (io::LogTrouble const& trouble : report.log.troubles) {
        reasons["not read: " + trouble.kind + ", first in line " + std::to_string(trouble.first_line)] +=
            static_cast<int>(trouble.count);
    }
    Table table{.title = "Skipped", .columns = {{"rows"}, {"reason", Align::left, true}}, .rows = {}};
    for (auto const& [reason, count] : reasons) { table.rows.push_back({std::to_string(count), reason}); }
    std::stable_sort(table.rows.begin(), table.rows.end(),
                     [](auto const& a, auto const& b) { return std::stoi(a[0]) > std::stoi(b[0]); });
    return table;
}

} // namespace

std::vector<Metric> metrics_of(CommunicationSummary const& summary) {
    return {{"median_absolute_error_fitted", summary.median_absolute_error_fitted},
            {"median_factor_unfitted", summary.median_factor_unfitted},
            {"median_factor_above_1_mb", summary.median_factor_above_1_mb},
            {"median_factor_up_to_1_mb", summary.median_factor_up_to_1_mb},
            {"rows", static_cast<double>(summary.rows)},
            {"skipped", static_cast<double>(summary.skipped)}};
}

Json json_of(CommunicationReport const& report) {
    Json rows = Json::array(), groups = Json::array(), troubles = Json::array();
    for (CommunicationComparison const& one : report.validation.rows) { rows.push(row_json(one)); }
    for (CommunicationGroup const& group : report.validation.groups) { groups.push(group_json(group)); }
    for (io::LogTrouble const& trouble : report.log.troubles) {
        troubles.push(Json::object()
                          .set("kind", trouble.kind)
                          .set("count", static_cast<int>(trouble.count))
                          .set("first_line", static_cast<int>(trouble.first_line))
                          .set("example", trouble.example));
    }
    Json json = result_head("validate", report.catalog, "");
    json.set("communication", report.table_name)
        .set("summary", summary_json(report.validation.summary, unread(report)))
        .set("groups", groups)
        .set("not_read", troubles)
        .set("rows", rows);
    if (!report.gates.empty()) { json.set("gates", gates_json(report.gates)); }
    if (report.wall_seconds) { json.set("stats", stats_json(*report.wall_seconds)); }
    return json;
}

Document document_of(CommunicationReport const& report) {
    Document document{"Validation of collectives: " + report.table_name, {}, footer(report.catalog, "")};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(report), "", true});
    blocks.emplace_back(Paragraph{"straight pieces through every second size of a group; the sizes between are "
                                  "predicted, median absolute error",
                                  "fitted"});
    blocks.emplace_back(Paragraph{"NCCL's own model with published constants, and a published floor of latency for "
                                  "each fabric; nothing is fitted; 1.3 means a third too slow or too fast",
                                  "factor"});
    if (auto chart = ratio_chart(report.validation.rows)) { blocks.emplace_back(std::move(*chart)); }
    blocks.emplace_back(groups_table(report));
    Table skipped = skipped_table(report);
    if (!skipped.rows.empty()) { blocks.emplace_back(std::move(skipped)); }
    return document;
}

Sheet sheet_of(CommunicationReport const& report) {
    Sheet sheet{{"id", "system", "interconnect", "collective", "ranks", "nodes", "size_bytes", "measured_seconds",
                 "fitted_on", "fitted_seconds", "relative_error_fitted", "unfitted_seconds", "unfitted_ratio",
                 "unfitted_by", "skipped_reason", "source"},
                {}};
    auto const cell = [](std::optional<double> const& value) { return value ? exact(*value) : std::string{}; };
    for (CommunicationComparison const& one : report.validation.rows) {
        MeasuredCollective const& row = *one.row;
        sheet.rows.push_back({row.id, row.system, row.interconnect, std::string{name_of(row.collective)},
                              std::to_string(row.ranks), std::to_string(row.nodes), exact(row.size.size.base()),
                              exact(row.time.base()), one.fitted_on ? "true" : "false",
                              one.fitted ? exact(one.fitted->base()) : "", cell(relative_error(one)),
                              one.unfitted.seconds ? exact(one.unfitted.seconds->base()) : "", cell(ratio(one)),
                              one.unfitted.how, one.unfitted.skipped_reason, row.source});
    }
    return sheet;
}

} // namespace headroom::cli
