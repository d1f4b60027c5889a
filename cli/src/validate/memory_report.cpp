#include "validate/memory_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <string>

namespace headroom::cli {

using namespace headroom::training;

Table memory_table(Validation const& validation) {
    Table table{.title = "Memory of an accelerator: median absolute error " +
                         percent(validation.memory.median_absolute_error) + " % over " +
                         std::to_string(validation.memory.rows) + " runs",
                .columns = {{"id", Align::left},
                            {"source", Align::left, true},
                            {"accelerator", Align::left, true},
                            {"measured GiB"},
                            {"predicted GiB"},
                            {"error %"}},
                .rows = {}};
    for (RunComparison const& row : validation.rows) {
        if (!row.predicted_memory || !row.run->counts()) { continue; }
        table.rows.push_back({row.run->id, row.run->source, row.run->accelerator,
                              significant(row.run->measured_memory->in(units::GiB)),
                              significant(row.predicted_memory->in(units::GiB)), percent(*row.memory_error())});
    }
    return table;
}

} // namespace headroom::cli
