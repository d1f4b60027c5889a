#include "validate/reports.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace headroom::cli {
namespace {

constexpr std::size_t most_points = 2000;

void add(Series& series, fit::CommunicationComparison const& one, std::optional<Seconds> const& predicted) {
    double const size = one.row->size.size.base();
    if (!predicted || !(predicted->base() > 0.0) || !(size > 0.0)) { return; }
    series.x.push_back(size);
    series.y.push_back(predicted->base() / one.row->time.base());
}

} // namespace

std::optional<Chart> ratio_chart(std::vector<fit::CommunicationComparison> const& rows) {
    std::size_t const stride = std::max<std::size_t>(1, (rows.size() + most_points - 1) / most_points);
    Series unfitted{.name = "from the catalog alone", .mark = Mark::points},
        fitted{.name = "fitted on the other sizes", .mark = Mark::points}, exact{.name = "exact", .mark = Mark::dashed};
    for (std::size_t i = 0; i < rows.size(); i += stride) {
        add(unfitted, rows[i], rows[i].unfitted.seconds);
        add(fitted, rows[i], rows[i].fitted);
    }
    std::vector<double> sizes = unfitted.x;
    sizes.insert(sizes.end(), fitted.x.begin(), fitted.x.end());
    if (sizes.size() < 2) { return std::nullopt; }
    auto const [least, most] = std::ranges::minmax_element(sizes);
    exact.x = {*least, *most};
    exact.y = {1.0, 1.0};
    std::string caption = "Each point is a row; above the dashed line it is predicted too slow, below it too fast.";
    if (stride > 1) { caption += " One row in " + std::to_string(stride) + " is drawn."; }
    Chart chart{.title = "Predicted over measured time",
                .caption = std::move(caption),
                .x = {"size, bytes", AxisScale::logarithmic},
                .y = {"predicted / measured", AxisScale::logarithmic}};
    for (Series* const series : {&fitted, &unfitted, &exact}) { // the first is drawn on top of the others
        if (!series->x.empty()) { chart.series.push_back(std::move(*series)); }
    }
    return chart;
}

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
    return reasons_table("Skipped", "rows", reasons, true);
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
    add_table(blocks, skipped_table(report));
    return document;
}

} // namespace headroom::cli
