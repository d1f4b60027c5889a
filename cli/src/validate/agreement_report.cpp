#include "validate/agreement_report.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace headroom::cli {

using namespace headroom::training;

namespace {

constexpr std::size_t worst_shown = 10;

std::string bar_words() { return percent(agreement_bar, 1) + " %"; }

std::string shown(DifferenceSpread const& spread, double value, int digits = 3) {
    return spread.plans > 0 ? percent(value, digits) : "-";
}

// ---- people -------------------------------------------------------------------------------------------------------

/// Plans on which the closed form is stated to be valid and misses, the worst first.
std::vector<AgreementRow const*> claimed_and_beyond(AgreementReport const& report) {
    std::vector<AgreementRow const*> beyond;
    for (AgreementRow const& row : report.answer.rows) {
        if (row.refused.empty() && row.claimed() && !row.within()) { beyond.push_back(&row); }
    }
    std::ranges::stable_sort(beyond, std::ranges::greater{},
                             [](AgreementRow const* row) { return std::abs(row->difference); });
    return beyond;
}

std::string verdict(AgreementReport const& report, std::size_t beyond) {
    auto const& [name, all, claimed] = report.answer.table.all;
    if (all.plans == 0) { return "No plan was simulated."; }
    std::string text = "The closed form claims " + percent(report.answer.table.all.claimed_share()) + " % of " +
                       counted(static_cast<std::size_t>(all.plans), "plan") + "; ";
    if (claimed.plans == 0) {
        text += "none of them is to agree";
    } else if (beyond == 0) {
        text += "all of those agree with the simulated step within " + bar_words();
    } else {
        text += std::to_string(beyond) + " of those " + (beyond == 1 ? "differs" : "differ") +
                " from the simulated step by more than " + bar_words() + ", at worst by " + percent(claimed.worst) +
                " %";
    }
    return text + ". Of all plans " + percent(all.within) + " % agree within " + bar_words() + ".";
}

std::vector<std::string> cells_of(std::string const& name, AgreementOfModel const& model) {
    DifferenceSpread const& claimed = model.claimed;
    return {name,
            std::to_string(model.all.plans),
            shown(model.all, model.claimed_share()),
            shown(claimed, claimed.median, 2),
            shown(claimed, claimed.p99),
            shown(claimed, claimed.worst),
            shown(model.all, model.all.within)};
}

Table models_table(AgreementTable const& table) {
    Table shown{.title = "By model",
                .columns = {{"model", Align::left, true},
                            {"plans"},
                            {"claimed %"},
                            {"median %"},
                            {"99th %"},
                            {"worst %"},
                            {"all within " + bar_words()}},
                .rows = {}};
    for (AgreementOfModel const& model : table.models) { shown.rows.push_back(cells_of(model.name, model)); }
    shown.rows.push_back(cells_of("all", table.all));
    return shown;
}

Table limits_table(AgreementTable const& table) {
    Table rows{.title = "Where the closed form does not claim to hold",
               .columns = {{"limit", Align::left, true}, {"plans"}, {"alone"}, {"median %"}, {"worst %"}},
               .rows = {}};
    for (AgreementOfLimit const& limit : table.limits) {
        rows.rows.push_back({limit.name, std::to_string(limit.met.plans), std::to_string(limit.alone.plans),
                             shown(limit.met, limit.met.median, 2), shown(limit.met, limit.met.worst)});
    }
    return rows;
}

Items reasons_of(AgreementTable const& table) {
    Items items{.title = "Why", .items = {}};
    for (AgreementOfLimit const& limit : table.limits) { items.items.push_back(limit.name + ": " + limit.reason); }
    return items;
}

Table beyond_table(std::vector<AgreementRow const*> const& beyond) {
    Table table{.title = "Claimed, and further off than " + bar_words(),
                .columns = {{"plan"},
                            {"difference %"},
                            {"model", Align::left, true},
                            {"on", Align::left, true},
                            {"strategy", Align::left, true}},
                .rows = {}};
    for (AgreementRow const* row : beyond) {
        if (table.rows.size() == worst_shown) { break; }
        table.rows.push_back({std::to_string(row->index), percent(row->difference), row->model, row->cluster,
                              row->strategy + ", " + row->framework});
    }
    return table;
}

Table refused_table(AgreementReport const& report) {
    std::map<std::string, int> reasons;
    for (AgreementRow const& row : report.answer.rows) {
        if (!row.refused.empty()) { ++reasons[row.refused]; }
    }
    Table table{.title = "Not simulated", .columns = {{"plans"}, {"reason", Align::left, true}}, .rows = {}};
    for (auto const& [reason, count] : reasons) { table.rows.push_back({std::to_string(count), reason}); }
    return table;
}

} // namespace

std::vector<Metric> metrics_of(AgreementAnswer const* answer) {
    return metrics_of(field_table_of(answer), answer,
                      {{"claimed", "summary.claimed"},
                       {"within_1_percent", "summary.difference.within_1_percent"},
                       {"claimed_within_1_percent", "summary.difference_claimed.within_1_percent"},
                       {"claimed_median", "summary.difference_claimed.median"},
                       {"claimed_p99", "summary.difference_claimed.p99"},
                       {"claimed_worst", "summary.difference_claimed.worst"},
                       {"worst", "summary.difference.worst"},
                       {"plans", "summary.plans"}});
}

Document document_of(AgreementReport const& report) {
    Document document{
        "Validation of the closed form by the simulated step", {}, footer(report.catalog, report.calibration)};
    auto& blocks = document.blocks;
    auto const beyond = claimed_and_beyond(report);
    blocks.emplace_back(Paragraph{verdict(report, beyond.size()), "", true});
    blocks.emplace_back(Paragraph{"random legal plans, drawn from seed " + std::to_string(report.answer.seed) +
                                      "; each has a number, and its own draw follows from seed and number",
                                  "plans"});
    blocks.emplace_back(models_table(report.answer.table));
    blocks.emplace_back(
        Paragraph{"claimed: share of the plans on which no limit below is met; median, 99th percentile and worst are "
                  "absolute differences of the step on those; all within: share of all plans, claimed or not",
                  "columns"});
    if (!report.answer.table.limits.empty()) {
        blocks.emplace_back(limits_table(report.answer.table));
        blocks.emplace_back(Paragraph{"plans that meet the limit, and those that meet no other (alone); a plan may "
                                      "meet several, and agree all the same",
                                      "limits"});
        blocks.emplace_back(reasons_of(report.answer.table));
    }
    if (!beyond.empty()) { blocks.emplace_back(beyond_table(beyond)); }
    if (report.answer.table.refused > 0) { blocks.emplace_back(refused_table(report)); }
    return document;
}

} // namespace headroom::cli
