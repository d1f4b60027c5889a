#include "validate/agreement_report.hpp"

#include "document/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace headroom::cli {
namespace {

constexpr std::size_t worst_shown = 10;

std::string bar_words() { return percent(agreement_bar, 1) + " %"; }

std::optional<double> if_any(DifferenceSpread const& spread, double value) {
    return spread.plans > 0 ? std::optional{value} : std::nullopt;
}
std::string shown(DifferenceSpread const& spread, double value, int digits = 3) {
    return spread.plans > 0 ? percent(value, digits) : "-";
}

// ---- machines -----------------------------------------------------------------------------------------------------

Json spread_json(DifferenceSpread const& spread) {
    return Json::object()
        .set("plans", spread.plans)
        .set("median", if_any(spread, spread.median))
        .set("p99", if_any(spread, spread.p99))
        .set("worst", if_any(spread, spread.worst))
        .set("within_1_percent", if_any(spread, spread.within));
}

/// Appends what a model, or all of them, came to.
Json model_json(Json json, AgreementOfModel const& model) {
    return json.set("plans", model.all.plans)
        .set("claimed", if_any(model.all, model.claimed_share()))
        .set("difference", spread_json(model.all))
        .set("difference_claimed", spread_json(model.claimed));
}

Json row_json(AgreementRow const& row) {
    bool const ran = row.refused.empty();
    Json limits = Json::array();
    for (ClosedFormLimit const& limit : row.limits) { limits.push(std::string{limit.name}); }
    return Json::object()
        .set("index", row.index)
        .set("model", row.model)
        .set("cluster", row.cluster)
        .set("framework", row.framework)
        .set("strategy", row.strategy)
        .set("sequence_length", row.workload.sequence_length)
        .set("global_batch", row.workload.global_batch)
        .set("closed_form_seconds", row.closed.base())
        .set("simulated_seconds", ran ? Json{row.simulated.base()} : Json{})
        .set("difference", ran ? Json{row.difference} : Json{})
        .set("claimed", row.claimed())
        .set("limits", std::move(limits))
        .set("refused", ran ? Json{} : Json{row.refused});
}

// ---- people -------------------------------------------------------------------------------------------------------

/// The plans that the closed form claims and misses, the worst first.
std::vector<AgreementRow const*> claimed_and_beyond(AgreementReport const& report) {
    std::vector<AgreementRow const*> beyond;
    for (AgreementRow const& row : report.rows) {
        if (row.refused.empty() && row.claimed() && !row.within()) { beyond.push_back(&row); }
    }
    std::ranges::stable_sort(beyond, std::ranges::greater{},
                             [](AgreementRow const* row) { return std::abs(row->difference); });
    return beyond;
}

std::string verdict(AgreementReport const& report, std::size_t beyond) {
    auto const& [name, all, claimed] = report.table.all;
    if (all.plans == 0) { return "No plan was simulated."; }
    std::string text = "The closed form claims " + percent(report.table.all.claimed_share()) + " % of " +
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
    for (AgreementRow const& row : report.rows) {
        if (!row.refused.empty()) { ++reasons[row.refused]; }
    }
    Table table{.title = "Not simulated", .columns = {{"plans"}, {"reason", Align::left, true}}, .rows = {}};
    for (auto const& [reason, count] : reasons) { table.rows.push_back({std::to_string(count), reason}); }
    return table;
}

} // namespace

std::vector<Metric> metrics_of(AgreementTable const& table) {
    auto const& [name, all, claimed] = table.all;
    std::string const nothing = "unknown: nothing is claimed";
    return {{.name = "claimed", .value = if_any(all, table.all.claimed_share()), .unknown = nothing},
            {.name = "within_1_percent", .value = if_any(all, all.within), .unknown = nothing},
            {.name = "claimed_within_1_percent", .value = if_any(claimed, claimed.within), .unknown = nothing},
            {.name = "claimed_median", .value = if_any(claimed, claimed.median), .unknown = nothing},
            {.name = "claimed_p99", .value = if_any(claimed, claimed.p99), .unknown = nothing},
            {.name = "claimed_worst", .value = if_any(claimed, claimed.worst), .unknown = nothing},
            {.name = "worst", .value = if_any(all, all.worst), .unknown = nothing},
            {.name = "plans", .value = static_cast<double>(all.plans)},
            {.name = "refused", .value = static_cast<double>(table.refused)}};
}

Json json_of(AgreementReport const& report) {
    Json models = Json::array(), limits = Json::array(), rows = Json::array();
    for (AgreementOfModel const& model : report.table.models) {
        models.push(model_json(Json::object().set("name", model.name), model));
    }
    for (AgreementOfLimit const& limit : report.table.limits) {
        limits.push(Json::object()
                        .set("name", limit.name)
                        .set("reason", limit.reason)
                        .set("difference", spread_json(limit.met))
                        .set("difference_alone", spread_json(limit.alone)));
    }
    for (AgreementRow const& row : report.rows) { rows.push(row_json(row)); }
    Json json = result_head("validate", report.catalog, report.calibration);
    json.set("simulation", Json::object().set("plans", report.asked).set("seed", report.seed))
        .set("complete", report.complete())
        .set("refused", report.table.refused)
        .set("summary", model_json(Json::object(), report.table.all))
        .set("models", std::move(models))
        .set("limits", std::move(limits))
        .set("rows", std::move(rows));
    if (!report.gates.empty()) { json.set("gates", gates_json(report.gates)); }
    if (report.wall_seconds) { json.set("stats", stats_json(*report.wall_seconds)); }
    return json;
}

Document document_of(AgreementReport const& report) {
    Document document{
        "Validation of the closed form by the simulated step", {}, footer(report.catalog, report.calibration)};
    auto& blocks = document.blocks;
    auto const beyond = claimed_and_beyond(report);
    blocks.emplace_back(Paragraph{verdict(report, beyond.size()), "", true});
    blocks.emplace_back(Paragraph{"random legal plans, drawn from seed " + std::to_string(report.seed) +
                                      "; each has a number, and its own draw follows from seed and number",
                                  "plans"});
    blocks.emplace_back(models_table(report.table));
    blocks.emplace_back(
        Paragraph{"claimed: share of the plans on which no limit below is met; median, 99th percentile and worst are "
                  "absolute differences of the step on those; all within: share of all plans, claimed or not",
                  "columns"});
    if (!report.table.limits.empty()) {
        blocks.emplace_back(limits_table(report.table));
        blocks.emplace_back(Paragraph{"plans that meet the limit, and those that meet no other (alone); a plan may "
                                      "meet several, and agree all the same",
                                      "limits"});
        blocks.emplace_back(reasons_of(report.table));
    }
    if (!beyond.empty()) { blocks.emplace_back(beyond_table(beyond)); }
    if (report.table.refused > 0) { blocks.emplace_back(refused_table(report)); }
    return document;
}

Sheet sheet_of(AgreementReport const& report) {
    Sheet sheet{{"index", "model", "cluster", "framework", "strategy", "sequence_length", "global_batch",
                 "closed_form_seconds", "simulated_seconds", "difference", "claimed", "limits", "refused"},
                {}};
    for (AgreementRow const& row : report.rows) {
        bool const ran = row.refused.empty();
        std::vector<std::string> limits;
        for (ClosedFormLimit const& limit : row.limits) { limits.emplace_back(limit.name); }
        sheet.rows.push_back({std::to_string(row.index), row.model, row.cluster, row.framework, row.strategy,
                              std::to_string(row.workload.sequence_length), std::to_string(row.workload.global_batch),
                              exact(row.closed.base()), ran ? exact(row.simulated.base()) : "",
                              ran ? exact(row.difference) : "", row.claimed() ? "true" : "false", join(limits, "; "),
                              row.refused});
    }
    return sheet;
}

} // namespace headroom::cli
