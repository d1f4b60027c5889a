#include "validate/dropped_report.hpp"

#include "headroom/document/text.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

using namespace headroom::training;

namespace {

std::vector<std::string> ids_of(DroppedRows const& dropped) {
    std::vector<std::string> ids;
    for (PublishedRun const* run : dropped.runs) { ids.push_back(run->id); }
    return ids;
}

} // namespace

Table dropped_table(Validation const& validation) {
    Table table{.title = "Suspect runs, dropped by the rules of validation/README.md",
                .columns = {left("rule"), "runs", wrapped("ids"), wrapped("what was found of the first")}};
    for (DroppedRows const& dropped : dropped_rows(validation.rows)) {
        table.rows.push_back({dropped.rule, std::to_string(dropped.runs.size()), join(ids_of(dropped), ", "),
                              dropped.runs.front()->dropped_because});
    }
    return table;
}

} // namespace headroom::cli
