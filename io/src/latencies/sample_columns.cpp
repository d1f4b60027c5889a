#include "latencies/sample_columns.hpp"

#include "records/record.hpp"
#include "tables/numbers.hpp"
#include "tables/quotient.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

void refuse_no_samples(std::string const& name, std::string_view where) {
    constexpr std::string_view words =
        " avg average mean median max maximum std stddev stdev percentile quantile timeout deadline ttl uptime lag ";
    constexpr double median = 50.0; // "p1" may be the first of pages
    for (std::string const& word : words_in(name)) {
        auto const percent = word.starts_with('p') ? decimal_number(word.substr(1)) : std::nullopt;
        bool const percentile = percent && *percent >= median;
        if (!percentile && words.find(" " + word + " ") == std::string_view::npos) { continue; }
        refuse(where, headroom::quoted(name) + " holds no samples", "its name says " + headroom::quoted(word),
               "if each is a sample, say so: --column NAME, or its number from 1");
    }
}

ColumnMatch value_column(std::vector<std::string> const& names, std::string_view where) {
    ColumnMatch best;
    std::vector<std::string> alike;
    for (std::size_t i = 0; i < names.size(); ++i) {
        ColumnMatch match = match_head(names[i], value_row);
        match.column = static_cast<int>(i);
        bool const unit_alone = match.rank >= ColumnMatch::unit_alone; // "prefill_ms", "time_ms", no "timestamp_ms"
        bool const moment = is_named(names[i], time_row) && !is_named(names[i], plain_time);
        bool const minimum = is_minimum(names, names[i]); // of a row's other samples
        if (match.rank >= ColumnMatch::never || (unit_alone && moment) || minimum) { continue; }
        if (match.rank < best.rank) { alike.clear(); }
        if (match.rank <= best.rank) { alike.push_back(names[i]); }
        if (match.rank < best.rank) { best = match; }
    }
    if (best.rank == ColumnMatch::unit_alone && alike.size() > 1) {
        refuse(where, "several columns could be the values", one_of(alike), "name one: --column NAME");
    }
    if (best.found()) { refuse_no_samples(names.at(static_cast<std::size_t>(best.column)), where); }
    return best;
}

bool is_tensorboard_scalar(std::vector<std::string> const& names) {
    constexpr std::array<std::string_view, 3> writer{"Wall time", "Step", "Value"};
    return std::ranges::equal(names, writer);
}

ColumnMatch tensorboard_value(std::string_view path) {
    std::string_view tag = path.substr(path.find_last_of('/') + 1);
    tag = tag.substr(0, tag.rfind('.'));
    constexpr std::string_view times = " time latency duration elapsed ms us ns s sec secs seconds ";
    bool time = false, rate = false;
    for (std::string const& word : words_in(tag)) {
        time = time || word.ends_with("time") || times.find(" " + word + " ") != std::string_view::npos;
        rate = rate || word == "per" || word == "throughput";
    }
    if (!time || rate) {
        refuse(path, "the columns are 'Wall time', 'Step', 'Value'", "nothing shows that the values are times",
               "if they are, say --column Value --unit s");
    }
    return {.column = 2, .rank = 0, .unit = match_head(tag, {.names = "", .measure = CellMeasure::time}).unit};
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

bool states_unit(std::string_view cell, std::string_view first, std::string_view where, std::uint64_t line) {
    auto const unit = stated_time_unit(cell), due = stated_time_unit(first);
    if (!unit || !due || unit->name == due->name) { return unit && due; }
    refuse(fmt::format("{}:{}", where, line), fmt::format("in {}", headroom::quoted(std::string{cell})),
           fmt::format("the rows above are in {}", first), "write all times in one unit");
}

std::string unit_of_column(ColumnMatch const& match) {
    return match.unit ? std::string{match.unit->name} : std::string{};
}

} // namespace headroom::io
