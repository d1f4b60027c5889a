#include "validate/bands_report.hpp"

#include "headroom/document/text.hpp"

#include <string>
#include <utility>
#include <vector>

namespace headroom::cli {

using namespace headroom::training;

namespace {

/// The line over all rows that a left-out source has in common with such a kind.
BandSummary over(std::vector<RunComparison> rows, bool (*holds)(RunComparison const&)) {
    std::erase_if(rows, [holds](RunComparison const& row) { return !holds(row); });
    for (RunComparison& row : rows) { row.extrapolation = Extrapolation::seen; }
    auto const one = summarise_bands(rows);
    return one.empty() ? BandSummary{} : one.front();
}

bool is_dense_and_stated(RunComparison const& row) {
    return row.run->kind == "dense" && row.run->counts() && !row.run->structural_assumption;
}

} // namespace

Table bands_table(ValidationAnswer const& answer) {
    Table table{
        .title = "90 % intervals, each made without the source (or mixture) it is for",
        .columns = {wrapped("what the fit had not seen"), "runs", "sources", "inside %", "half-width x", "median %"}};
    if (!answer.left_out) { return table; }
    auto const add = [&table](std::string name, BandSummary const& s) {
        if (s.rows == 0) { return; }
        table.rows.push_back({std::move(name), std::to_string(s.rows), std::to_string(s.sources), percent(s.coverage),
                              significant(s.median_half_width), percent(s.median_absolute_error)});
    };
    for (BandSummary const& summary : bands_of(answer)) { add(std::string{words_of(summary.kind)}, summary); }
    add("dense, every field stated", over(answer.left_out->rows, is_dense_and_stated));
    add("all with their source left out", over(answer.left_out->rows, [](RunComparison const&) { return true; }));
    return table;
}

} // namespace headroom::cli
