#include "validate/reports.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace headroom::cli {
namespace {

constexpr std::size_t worst_shown = 10;

std::string bar_words() { return percent(agreement_bar, 1) + " %"; }

std::string shown(DifferenceSpread const& spread, double value, int digits = 3) {
    return spread.plans > 0 ? percent(value, digits) : "-";
}

// ---- people -------------------------------------------------------------------------------------------------------

std::string verdict(AgreementTable const& table) {
    auto const& [name, difference, unshared] = table.all;
    if (difference.plans == 0) { return "No plan was simulated."; }
    return "Where every transfer has its NIC to itself, price and simulation differ by at most " +
           percent(unshared.worst, 2) + " % on " + counted(static_cast<std::size_t>(difference.plans), "plan") +
           ". With shared NICs " + percent(difference.within) + " % agree within " + bar_words() + ", the worst is " +
           percent(difference.worst) + " % apart.";
}

std::vector<std::string> cells_of(std::string const& name, AgreementOfKind const& kind) {
    auto const& [of, difference, unshared] = kind;
    return {name,
            std::to_string(difference.plans),
            shown(unshared, unshared.worst, 2),
            shown(difference, difference.median, 2),
            shown(difference, difference.p99),
            shown(difference, difference.worst)};
}

Table kinds_table(AgreementTable const& table) {
    Table rows{.title = "By kind of plan",
               .columns = {wrapped("kind"), "plans", "own NIC: worst %", "shared: median %", "99th %", "worst %"}};
    for (AgreementOfKind const& kind : table.kinds) { rows.rows.push_back(cells_of(kind.name, kind)); }
    rows.rows.push_back(cells_of("all", table.all));
    return rows;
}

/// Plans that differ most, the worst first.
Table worst_table(AgreementReport const& report) {
    std::vector<AgreementRow const*> worst;
    for (AgreementRow const& row : report.answer.rows) {
        if (std::abs(row.difference) > agreement_bar) { worst.push_back(&row); }
    }
    std::ranges::stable_sort(worst, std::ranges::greater{},
                             [](AgreementRow const* row) { return std::abs(row->difference); });
    Table table{.title = "Further apart than " + bar_words(),
                .columns = {"plan", "difference %", wrapped("model"), wrapped("on"), wrapped("strategy")}};
    for (AgreementRow const* row : worst) {
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
    return reasons_table("Not simulated", "plans", reasons, false);
}

} // namespace

std::vector<Metric> metrics_of(AgreementAnswer const* answer) {
    return metrics_of(field_table_of(answer), answer,
                      {{"within_1_percent", "summary.difference.within_1_percent"},
                       {"worst", "summary.difference.worst"},
                       {"worst_unshared", "summary.difference_unshared.worst"},
                       {"plans", "summary.plans"}});
}

Document document_of(AgreementReport const& report) {
    Document document{"Price of a step against its simulation", {}, footer(report.catalog, report.calibration)};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(report.answer.table), "", true});
    blocks.emplace_back(Paragraph{"Random legal plans from seed " + std::to_string(report.answer.seed) +
                                      "; seed and number of a plan draw it again.",
                                  "plans"});
    blocks.emplace_back(kinds_table(report.answer.table));
    blocks.emplace_back(Paragraph{"Not priced: a third transfer by one NIC at a time, such as pipeline, context and "
                                  "gradient traffic together. The simulation shares the NIC among all.",
                                  "shared"});
    add_table(blocks, worst_table(report));
    if (report.answer.table.refused > 0) { blocks.emplace_back(refused_table(report)); }
    return document;
}

} // namespace headroom::cli
