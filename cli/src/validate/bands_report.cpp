#include "validate/bands_report.hpp"

#include "document/text.hpp"

#include <string>
#include <utility>
#include <vector>

namespace headroom::cli {
namespace {

/// How often the interval held what was measured, for each way in which a run lay outside what was fitted; mixtures once
/// with their model left out, once with their source.
std::vector<BandSummary> bands_of(ValidationReport const& report) {
    std::vector<RunComparison> rows = report.left_out->rows;
    for (RunComparison& row : rows) {
        if (row.extrapolation == Extrapolation::mixture) { row.extrapolation = Extrapolation::unseen_mixture; }
    }
    if (report.models_left_out) {
        for (RunComparison row : report.models_left_out->rows) {
            row.extrapolation = Extrapolation::mixture;
            rows.push_back(row);
        }
    }
    return summarise_bands(rows);
}

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

Table bands_table(ValidationReport const& report) {
    Table table{.title = "90 % intervals, each made without the source (or mixture) it is for",
                .columns = {{"what the fit had not seen", Align::left, true},
                            {"runs"},
                            {"sources"},
                            {"inside %"},
                            {"half-width x"},
                            {"median %"}},
                .rows = {}};
    if (!report.left_out) { return table; }
    auto const add = [&table](std::string name, BandSummary const& s) {
        if (s.rows == 0) { return; }
        table.rows.push_back({std::move(name), std::to_string(s.rows), std::to_string(s.sources), percent(s.coverage),
                              significant(s.median_half_width), percent(s.median_absolute_error)});
    };
    for (BandSummary const& summary : bands_of(report)) { add(std::string{words_of(summary.kind)}, summary); }
    add("dense, every field stated", over(report.left_out->rows, is_dense_and_stated));
    add("all with their source left out", over(report.left_out->rows, [](RunComparison const&) { return true; }));
    return table;
}

Json bands_json(ValidationReport const& report) {
    Json bands = Json::array();
    if (!report.left_out) { return bands; }
    for (BandSummary const& s : bands_of(report)) {
        bands.push(Json::object()
                       .set("kind", name_of(s.kind))
                       .set("rows", s.rows)
                       .set("sources", s.sources)
                       .set("coverage", s.coverage)
                       .set("median_half_width", s.median_half_width)
                       .set("median_absolute_error", s.median_absolute_error));
    }
    return bands;
}

} // namespace headroom::cli
