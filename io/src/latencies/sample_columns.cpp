#include "latencies/sample_columns.hpp"

#include "records/record.hpp"

#include "headroom/error.hpp"

namespace headroom::io {
namespace {

constexpr ColumnRow value_row{
    .names =
        "latency latencies responsetime httpreqduration metricvalue duration elapsed elapsedtime requesttime "
        "requestlatency requestduration timetaken totaltime ttime servicetime roundtrip roundtriptime rtt e2elatency "
        "steptime iterationtime realtime walltime runtime ttft took datavalue value sample samples",
    .measure = CellMeasure::time};
constexpr ColumnRow time_row{
    .names = "timestamp sent sentat sendtime start starttime startedat started starttimestamp requestedat arrival "
             "arrivaltime arrivedat begin ts time datatime datetime date epoch offset",
    .measure = CellMeasure::time};
constexpr ColumnRow plain_time{.names = "time", .measure = CellMeasure::time};

bool is_named(std::string_view head, ColumnRow const& row) {
    return match_head(head, row).rank < ColumnMatch::unit_alone;
}

} // namespace

ColumnMatch value_column(std::vector<std::string> const& names, std::string_view where) {
    ColumnMatch best;
    std::vector<std::string> alike;
    for (std::size_t i = 0; i < names.size(); ++i) {
        ColumnMatch match = match_head(names[i], value_row);
        match.column = static_cast<int>(i);
        bool const unit_alone = match.rank >= ColumnMatch::unit_alone; // "prefill_ms", "time_ms", no "timestamp_ms"
        bool const moment = is_named(names[i], time_row) && !is_named(names[i], plain_time);
        if (match.rank >= ColumnMatch::never || (unit_alone && moment)) { continue; }
        if (match.rank < best.rank) { alike.clear(); }
        if (match.rank <= best.rank) { alike.push_back(names[i]); }
        if (match.rank < best.rank) { best = match; }
    }
    if (best.rank == ColumnMatch::unit_alone && alike.size() > 1) {
        usage_error(where, "several columns could be the values", one_of(alike), "name one: --column NAME");
    }
    return best;
}

ColumnMatch time_column(std::vector<std::string> const& names, int values) {
    ColumnMatch best;
    for (std::size_t i = 0; i < names.size(); ++i) {
        ColumnMatch match = match_head(names[i], time_row);
        match.column = static_cast<int>(i);
        bool const other = match.column != values && match.rank < ColumnMatch::unit_alone;
        if (other && match.rank < best.rank) { best = match; }
    }
    return best;
}

std::string unit_of_column(ColumnMatch const& match) {
    return match.unit ? std::string{match.unit->name} : std::string{};
}

} // namespace headroom::io
