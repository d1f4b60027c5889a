#include "validate/pace_report.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

using namespace headroom::training;

namespace {

/// Whether any of the compared runs is of this framework.
bool used(ValidationAnswer const& answer, std::string const& framework) {
    return std::ranges::any_of(answer.validation.rows, [&framework](RunComparison const& row) {
        return row.run->question && row.run->question->framework.name == framework;
    });
}

} // namespace

Table pace_table(ValidationAnswer const& answer) {
    Table table{.title = "Pace of frameworks with kernels of their own",
                .columns = {left("framework"), "factor", "runs", "sources", wrapped("factor without source")}};
    for (auto const& [framework, pace] : answer.pace) {
        if (!used(answer, framework)) { continue; }
        std::vector<std::string> without;
        for (auto const& [source, factor] : pace_without_each(answer, framework)) {
            without.push_back(source + " " + (factor ? significant(*factor) : "-"));
        }
        table.rows.push_back({framework, significant(pace.factor), std::to_string(pace.rows),
                              std::to_string(pace.sources), join(without, ", ")});
    }
    return table;
}

} // namespace headroom::cli
