#include "validate/pace_report.hpp"

#include "document/text.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {
namespace {

/// Whether any of the compared runs is of this stack.
bool used(ValidationReport const& report, std::string const& framework) {
    return std::ranges::any_of(report.validation.rows, [&framework](RunComparison const& row) {
        return row.run->question && row.run->question->framework.name == framework;
    });
}

/// Sources whose runs may set the pace of a stack, each with the factor found without it; empty where no other source
/// says anything.
using PaceWithout = std::map<std::string, std::optional<double>>;

PaceWithout pace_without_each(ValidationReport const& report, std::string const& framework) {
    PaceWithout found;
    for (RunComparison const& row : report.validation.rows) {
        if (!row.run->question || row.run->question->framework.name != framework) { continue; }
        auto const fold = report.pace_without.find(row.run->source);
        if (fold == report.pace_without.end()) { continue; }
        auto const pace = fold->second.find(framework);
        found[row.run->source] = pace == fold->second.end() ? std::nullopt : std::optional{pace->second.factor};
    }
    return found;
}

} // namespace

Table pace_table(ValidationReport const& report) {
    Table table{.title = "Pace of stacks whose kernels are their own",
                .columns = {{"framework", Align::left},
                            {"factor"},
                            {"runs"},
                            {"sources"},
                            {"factor without source", Align::left, true}},
                .rows = {}};
    for (auto const& [framework, pace] : report.pace) {
        if (!used(report, framework)) { continue; }
        std::vector<std::string> without;
        for (auto const& [source, factor] : pace_without_each(report, framework)) {
            without.push_back(source + " " + (factor ? significant(*factor) : "-"));
        }
        table.rows.push_back({framework, significant(pace.factor), std::to_string(pace.rows),
                              std::to_string(pace.sources), join(without, ", ")});
    }
    return table;
}

Json paces_json(ValidationReport const& report) {
    Json paces = Json::array();
    for (auto const& [framework, pace] : report.pace) {
        Json without = Json::array();
        for (auto const& [source, factor] : pace_without_each(report, framework)) {
            without.push(Json::object().set("source", source).set("factor", factor));
        }
        paces.push(Json::object()
                       .set("framework", framework)
                       .set("factor", pace.factor)
                       .set("runs", pace.rows)
                       .set("sources", pace.sources)
                       .set("without", without));
    }
    return paces;
}

} // namespace headroom::cli
