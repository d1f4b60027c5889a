#include "latencies/csv_layout.hpp"

#include "latencies/sample_columns.hpp"
#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/columns.hpp"
#include "tables/quotient.hpp"
#include "tables/scaling_cells.hpp"
#include "tables/time_stamp.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

namespace headroom::io {
namespace {

bool is_number(std::string_view cell) { return cell_value(cell, CellMeasure::time).is_number(); }

int named(std::vector<std::string> const& names, std::string_view name) {
    auto const at = std::ranges::find(names, name);
    return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}

/// Tables whose writers are known by their columns: what values are in, and how failures show.
bool know_writer(CsvLayout& layout) {
    auto const at = [&](std::string_view name) { return named(layout.names, name); };
    using Kind = FailureMark::Kind;
    if (at("metric_name") >= 0 && at("metric_value") >= 0 && at("timestamp") >= 0) { // k6
        layout.value = at("metric_value");
        layout.time = at("timestamp");
        layout.time_is_end = true;
        layout.unit = "ms";
        layout.where.emplace_back(at("metric_name"), "http_req_duration");
        layout.metric_chosen = true;
        if (at("expected_response") >= 0) { layout.failures.push_back({at("expected_response"), Kind::is_false}); }
        layout.note = "k6: values of http_req_duration; times are those of answers, less the value";
    } else if (at("timeStamp") >= 0 && at("elapsed") >= 0 && at("success") >= 0) { // JMeter
        layout.value = at("elapsed");
        layout.time = at("timeStamp");
        layout.unit = "ms";
        layout.failures.push_back({at("success"), Kind::is_false});
        layout.note = "JMeter: elapsed, in milliseconds";
    } else if (at("response-time") >= 0 && at("DNS+dialup") >= 0) { // hey
        layout.value = at("response-time");
        layout.time = at("offset");
        layout.unit = "s";
        if (at("status-code") >= 0) { layout.failures.push_back({at("status-code"), Kind::status}); }
    } else if (at("starttime") >= 0 && at("ttime") >= 0 && at("wait") >= 0) { // ApacheBench
        layout.value = at("ttime");
        layout.time = at("seconds");
        layout.unit = "ms";
    } else {
        return false;
    }
    layout.unit_from = "format";
    return true;
}

/// vegeta's table has no header: nanoseconds since 1970, the status, nanoseconds, bytes out and in, an error, and more.
bool know_vegeta(CsvLayout& layout, std::vector<std::string_view> const& cells) {
    constexpr std::size_t least_cells = 6, digits = 19;
    if (layout.header || cells.size() < least_cells || cells[0].size() != digits) { return false; }
    for (std::size_t i = 0; i < 5; ++i) {
        if (cells[i].empty() || cells[i].find_first_not_of("0123456789") != std::string_view::npos) { return false; }
    }
    if (cells[1].size() > 3) { return false; }
    using Kind = FailureMark::Kind;
    layout.time = 0;
    layout.value = 2;
    layout.unit = layout.time_unit = "ns";
    layout.unit_from = "format";
    layout.failures = {{1, Kind::status}, {5, Kind::error}};
    layout.note = "vegeta: the third column is the latency, in nanoseconds";
    return true;
}

/// Columns whose cells in a row are numbers, or times.
std::vector<int> numeric(std::vector<std::string_view> const& cells) {
    std::vector<int> columns;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (is_number(cells[i])) { columns.push_back(static_cast<int>(i)); }
    }
    return columns;
}

/// Whether a cell is surely a time: a date, a time of day, or a number of seconds or less since 2001.
bool is_surely_time(std::string_view cell) {
    auto const number = decimal_number(cell);
    return clock_duration(cell).has_value() || date_and_time(cell).has_value() || (number && *number >= 1e9);
}

/// The column of values where no name shows it: the only one that holds numbers, apart from a time.
void choose_by_content(CsvLayout& layout, std::vector<std::string_view> const& cells, std::string const& where) {
    std::vector<int> columns = numeric(cells);
    if (columns.size() == 2 && is_surely_time(cells[static_cast<std::size_t>(columns[0])]) && !layout.header) {
        columns.erase(columns.begin());
    }
    if (columns.size() > 1) {
        refuse(where, fmt::format("{} columns hold numbers", columns.size()),
               layout.header ? one_of(layout.names) : std::string{"they have no names"},
               "say which are the values: --column NAME, or its number from 1");
    }
    layout.value = columns.empty() ? 0 : columns.front();
    constexpr ColumnRow counts{.names = "count counts frequency freq occurrences hits observations"};
    auto const value = static_cast<std::size_t>(layout.value);
    bool const named = layout.header && value < layout.names.size(); // a head may be shorter than its rows
    std::string_view const head = named ? std::string_view{layout.names[value]} : std::string_view{};
    if (match_head(head, counts).rank < ColumnMatch::unit_alone) {
        refuse(where, headroom::quoted(std::string{head}) + " counts samples, it holds none",
               listed_columns(layout.names), "of a histogram write the upper bounds of its buckets as a column le_ms");
    }
    bool const dated = !layout.header && layout.value > 0 && is_surely_time(cells.front());
    if (dated) { layout.time = 0; }
}

/// Refuses a head whose unit may be minutes or none, and clock times in hours and minutes.
void refuse_unclear_head(CsvLayout const& layout, ColumnMatch& chosen, SampleBuilder const& samples) {
    if (!chosen.found()) { return; }
    std::string const& head = layout.names.at(static_cast<std::size_t>(chosen.column));
    if (counts_hours(head)) {
        refuse(samples.where(), headroom::quoted(head) + " is in hours and minutes", {}, "write such times as h:mm:ss");
    }
    if (!samples.question().unit.empty() || !says_minutes_or_minimum(head)) { return; }
    if (!is_minimum(layout.names, head)) { refuse_minutes_or_minimum(head, samples.where()); }
    if (chosen.unit && same_caseless(chosen.unit->name, "min")) { chosen.unit = {}; }
}

/// Refuses rows that each sum up many samples: a mean, a median and extremes, next to a count.
void refuse_summary(CsvLayout const& layout, ColumnMatch const& chosen, SampleBuilder const& samples) {
    constexpr std::string_view statistics = " avg average mean med median min max minimum maximum std stddev ";
    constexpr ColumnRow counts{.names = "instances count counts calls numcalls ncalls samples iterations runs"};
    constexpr std::size_t enough = 3;
    std::size_t found = 0;
    for (std::string const& name : layout.names) {
        if (name.find("/call") != std::string::npos) { found += enough; } // of strace -c
        found += std::ranges::any_of(words_in(name), [&](std::string const& word) {
            return statistics.find(" " + word + " ") != std::string_view::npos;
        });
    }
    bool const sure = chosen.found() && chosen.rank < ColumnMatch::unit_alone;
    bool const counted = match_column(layout.names, counts).found();
    if (found < enough || (sure && !counted)) { return; }
    unreadable_error(samples.where(), "columns of statistics, not of samples", listed_columns(layout.names),
                     "give the samples, or name a column of samples: --column NAME");
}

/// Refuses moments where durations are due: Unix times, in a column that nobody asked for.
void refuse_moments(CsvLayout const& layout, std::vector<CellRow> const& rows, SampleBuilder const& samples) {
    if (layout.known_writer || !samples.question().column.empty()) { return; }
    auto const unit = layout.unit.empty() ? std::nullopt : stated_time_unit(layout.unit);
    constexpr double first = 1e9, last = 4e9; // seconds: the years 2001 to 2096, or a duration of 30 years
    std::size_t numbers = 0;
    double before = 0.0;
    for (CellRow const& row : rows) {
        CellValue const cell = cell_value(row.cell(layout.value), CellMeasure::time, samples.marks());
        if (cell.kind != CellValue::Kind::bare) { continue; }
        bool const moment = unit ? unit->base(cell.value) >= first && unit->base(cell.value) <= last
                                 : std::ranges::any_of(std::array{1.0, 1e-3, 1e-6, 1e-9}, [&](double one) {
                                       return one * cell.value >= first && one * cell.value <= last;
                                   });
        if (!moment || (!unit && cell.value < before)) { return; }
        before = cell.value;
        ++numbers;
    }
    if (numbers < 2) { return; }
    auto const value = static_cast<std::size_t>(layout.value);
    bool const named = layout.header && value < layout.names.size();
    std::string const name = named ? headroom::quoted(layout.names[value]) : std::string{"the numbers"};
    refuse(samples.where(), name + (named ? " holds" : " are") + " moments (Unix time), not durations",
           layout.header ? listed_columns(layout.names) : std::string{},
           "name a column of durations: --column NAME; of a start and an end give the difference");
}

void choose_columns(CsvLayout& layout, std::vector<std::string_view> const& cells, SampleBuilder& samples) {
    LatencyQuestion const& question = samples.question();
    bool const known = layout.header ? know_writer(layout) : know_vegeta(layout, cells);
    layout.known_writer = known;
    ColumnMatch chosen;
    if (!question.column.empty()) {
        chosen = asked_column(layout.names, layout.header, question.column, CellMeasure::time, samples.where());
        if (known && chosen.column != layout.value) {
            layout.unit.clear();
            layout.unit_from.clear();
        }
        if (layout.header) { refuse_unclear_head(layout, chosen, samples); }
    } else if (!known && layout.header && is_tensorboard_scalar(layout.names)) {
        chosen = tensorboard_value(samples.where());
    } else if (!known && layout.header) {
        chosen = value_column(layout.names, samples.where());
        refuse_summary(layout, chosen, samples);
        refuse_unclear_head(layout, chosen, samples);
    }
    if (chosen.found()) {
        layout.value = chosen.column;
        if (layout.unit.empty() && chosen.unit) {
            layout.unit = unit_of_column(chosen);
            layout.unit_from = "header";
        }
    } else if (!known) {
        choose_by_content(layout, cells, samples.where());
    }
    if (question.time_column == "none") {
        layout.time = -1;
    } else if (!question.time_column.empty()) {
        auto const asked =
            asked_column(layout.names, layout.header, question.time_column, CellMeasure::time, samples.where());
        layout.time = asked.column;
        layout.time_unit = unit_of_column(asked);
    } else if (!known && layout.header && is_tensorboard_scalar(layout.names) && layout.value != 0) {
        layout.time = 0;
        layout.time_unit = "s";
    } else if (!known && layout.header) {
        auto const found = time_column(layout.names, layout.value);
        layout.time = found.column;
        layout.time_unit = unit_of_column(found);
    }
    if (!question.time_unit.empty()) {
        layout.time_unit = std::string{asked_unit(question.time_unit, samples.where()).name};
    }
}

void choose_rows(CsvLayout& layout, SampleBuilder const& samples) {
    for (auto const& [name, cell] : samples.question().where) {
        int const column =
            asked_column(layout.names, layout.header, name, CellMeasure::nothing, samples.where()).column;
        // The user's choice replaces the rows that a known writer's table is read for.
        std::erase_if(layout.where, [&](auto const& one) { return one.first == column; });
        std::erase_if(layout.outcomes, [&](OutcomeColumn const& one) { return one.column == column; });
        layout.where.emplace_back(column, cell);
    }
    std::erase_if(layout.outcomes, [&](OutcomeColumn const& one) { return one.column == layout.value; });
    if (samples.question().keep_failed) {
        layout.failures.clear();
        layout.outcomes.clear();
    }
}

/// The statistic that a cell names: "avg:", "AverageLatency(us)", "95th percentile"; empty for all else.
std::string_view statistic_in(std::string_view cell) {
    constexpr std::array<std::string_view, 7> parts{"average",    "percentile", "stddev", "stdev",
                                                    "minlatency", "maxlatency", "median"};
    for (std::string_view const part : parts) {
        if (find_caseless(cell, part) != std::string_view::npos) { return part; }
    }
    constexpr std::string_view words = "min avg mean max sum minimum maximum total";
    std::string_view const name = trimmed_line(cell.substr(0, cell.find_first_of(":=(")));
    for (std::string_view left = words; !left.empty();) {
        std::string_view const word = next_word(left);
        if (same_caseless(word, name)) { return word; }
    }
    return {};
}

/// Refuses rows that each state another statistic, whose figures are no samples.
void refuse_statistics(CsvLayout const& layout, std::vector<CellRow> const& rows, SampleBuilder& samples) {
    constexpr std::size_t enough = 3;
    std::set<std::string_view> seen;
    for (CellRow const& row : rows) {
        for (std::size_t i = 0; i < row.cells().size(); ++i) {
            auto const found = static_cast<int>(i) == layout.value ? std::string_view{} : statistic_in(row.cells()[i]);
            if (!found.empty()) { seen.insert(found); }
        }
    }
    if (seen.size() < enough) { return; }
    unreadable_error(samples.where(), "rows of statistics, not of samples",
                     "they state " + one_of({seen.begin(), seen.end()}),
                     "give the samples, or percentiles as p99: 64.9 ms");
}

/// The unit of times that a column states, as the first row has it; rows in others are refused.
void take_stated_unit(CsvLayout& layout, std::vector<CellRow> const& rows) {
    int const column = layout.header && layout.unit.empty() ? unit_column(layout.names) : -1;
    auto const unit = column >= 0 && !rows.empty() ? time_unit(rows.front().cell(column)) : std::nullopt;
    if (!unit) { return; }
    layout.unit = unit->name;
    layout.unit_from = "cells";
    layout.unit_column = column;
}

/// A unit of time that stands behind the values of a table without a head: "step 3: 22.6 ms".
void take_unit_behind(CsvLayout& layout, std::vector<CellRow> const& rows) {
    if (layout.header || layout.known_writer || !layout.unit.empty() || rows.empty()) { return; }
    auto const unit = time_unit(rows.front().cell(layout.value + 1));
    if (!unit) { return; }
    layout.unit = unit->name;
    layout.unit_from = "cells";
    layout.unit_column = layout.value + 1;
}

/// Whether each row is a name of its own and a number, some of them with decimals: "request-7 0.0123".
bool are_named_numbers(CsvLayout const& layout, std::vector<CellRow> const& rows) {
    std::set<std::string_view> names;
    bool decimals = false;
    for (CellRow const& row : rows) {
        bool const pair = row.cells().size() == 2 && names.insert(row.cell(1 - layout.value)).second;
        if (!pair) { return false; }
        decimals = decimals || row.cell(layout.value).find('.') != std::string_view::npos;
    }
    return decimals;
}

/// Refuses bare numbers among words, of which nothing says that they are times: "op 7 latency=22us", "sent 512 bytes".
void refuse_numbers_in_prose(CsvLayout const& layout, std::vector<CellRow> const& rows, SampleBuilder const& samples) {
    if (layout.header || layout.known_writer || !samples.question().column.empty() || rows.empty()) { return; }
    auto const& cells = rows.front().cells();
    bool const words_count = layout.dialect.delimiter == ' ' && !are_named_numbers(layout, rows);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        std::string_view const cell = trimmed_line(cells[i]);
        auto const equals = cell.find('=');
        bool const label = equals != std::string_view::npos && equals + 1 < cell.size();
        bool const word = words_count && !cell.empty() && !is_number(cell) && !is_surely_time(cell);
        if (static_cast<int>(i) == layout.value || !(label || word)) { continue; }
        refuse(samples.where(), fmt::format("nothing says that the numbers in column {} are times", layout.value + 1),
               "the lines hold words, too: " + headroom::quoted(std::string{cell}),
               "name the column of values and their unit: --column NUMBER --unit ms");
    }
}

/// Refuses sentences whose times are statistics or settings, "p99: 12 ms", or are cut in two by a comma, "took 12,5 ms".
void refuse_other_sentences(CsvLayout const& layout, std::vector<CellRow> const& rows, SampleBuilder const& samples) {
    if (layout.header || layout.known_writer || !samples.question().column.empty() || rows.empty()) { return; }
    auto const& cells = rows.front().cells();
    for (std::size_t i = 0; i < cells.size() && layout.dialect.delimiter == ' '; ++i) {
        std::string const cell{trimmed_line(cells[i])};
        bool const other = static_cast<int>(i) == layout.value || cell.starts_with('/') || is_number(cell);
        if (other) { continue; }
        refuse_no_samples(cell, samples.where());
        constexpr std::string_view settings = "age interval period backoff sleep sleeping retry retrying retries every "
                                              "expires lease cooldown skew drift offset";
        if (is_word_of(settings, std::string_view{cell}.substr(0, cell.find_last_not_of(":=,") + 1))) {
            refuse(samples.where(), headroom::quoted(cell) + " names no latency", "the times stand behind it",
                   "if each is a sample, say so: --column NUMBER");
        }
    }
    std::string_view const before = layout.value > 0 ? trimmed_line(rows.front().cell(layout.value - 1)) : "";
    bool const sentence = before.find(' ') != std::string_view::npos && !is_surely_time(before);
    if (layout.dialect.delimiter != ',' || !sentence || !is_decimal_digit(before.back())) { return; }
    refuse(samples.where(), "a comma may part a number", "one stands behind " + headroom::quoted(std::string{before}),
           "name the column of values: --column NUMBER, or write decimals with a point");
}

/// Refuses whole numbers without a unit below a head that names no time: "ngl", "CONTAINER ID".
void refuse_counts(CsvLayout const& layout, std::vector<double> const& numbers, SampleBuilder const& samples) {
    bool const asked = !samples.question().column.empty() || !samples.question().unit.empty();
    auto const value = static_cast<std::size_t>(layout.value);
    if (asked || !layout.header || layout.known_writer || value >= layout.names.size()) { return; }
    std::string const& name = layout.names[value];
    bool const known = value_column({name}, samples.where()).found() || decimal_number(name);
    bool const whole = std::ranges::all_of(numbers, [](double number) { return number == std::floor(number); });
    if (known || !whole || layout.names.size() < 2) { return; }
    refuse(samples.where(), "nothing says that " + headroom::quoted(name) + " holds times",
           listed_columns(layout.names), "name the column of values and their unit: --column NAME --unit ms");
}

/// Refuses a row of units below the head.
void refuse_unit_row(std::vector<CellRow> const& rows, TableHead const& head, SampleBuilder const& samples) {
    if (!head.named || rows.size() < 2 || !is_row_of_units(rows[0].cells(), rows[1].cells())) { return; }
    unreadable_error(samples.where(), "a row of units below the head", {}, "write units into the head: latency (ms)");
}

} // namespace

bool FailureMark::failed(std::string_view cell) const {
    cell = trimmed_line(cell);
    if (kind == Kind::error) { return !cell.empty(); }
    if (kind == Kind::is_false) { return cell.size() == 5 && find_caseless(cell, "false") == 0; }
    int status = 0;
    auto const [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), status);
    constexpr int first_good = 200, first_bad = 400;
    return error != std::errc{} || stop != cell.data() + cell.size() || status < first_good || status >= first_bad;
}

void assume_unit(std::vector<double> numbers, SampleBuilder& samples, std::string_view head) {
    if (numbers.empty()) { return samples.set_unit(*time_unit("s"), "cells"); } // each cell has its own
    if (samples.question().unit.empty()) { refuse_other_unit(head, samples.where()); }
    constexpr double surely_nanoseconds = 1e5;
    auto const middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::ranges::nth_element(numbers, middle);
    bool const whole = std::ranges::all_of(numbers, [](double number) { return number == std::floor(number); });
    bool const nanoseconds = whole && *middle >= surely_nanoseconds;
    constexpr double an_hour = 3600.0;
    if (samples.question().unit.empty() && !nanoseconds && *middle > an_hour) {
        refuse(samples.where(), fmt::format("a value of {:.6g}, and nothing says its unit", *middle),
               "in seconds it is more than an hour", "say the unit of the values: --unit us");
    }
    samples.set_unit(nanoseconds ? *time_unit("ns") : *time_unit("s"), "assumed");
    if (samples.found().unit_from != "assumed") { return; }
    samples.note(
        nanoseconds
            ? "values are taken for nanoseconds: whole numbers of six digits and more, and nothing says their unit"
            : "values are taken for seconds: nothing says their unit (--unit ms)");
}

CsvLayout csv_layout(std::string_view text, SampleBuilder& samples) {
    TableHead head = table_head(text);
    CsvLayout layout;
    layout.skipped = head.skipped;
    if (head.lines.empty()) { return layout; }
    if (!head.comment.empty() && !value_column(head.names(), samples.where()).found()) { head.comment = {}; }
    layout.dialect = head.dialect;
    layout.header = head.has_names();
    layout.names = head.names();
    layout.skipped += head.named ? 1 : 0;
    std::vector<CellRow> rows;
    rows.reserve(head.lines.size()); // cells may point into their row
    for (std::size_t i = head.named ? 1 : 0; i < head.lines.size(); ++i) {
        rows.emplace_back();
        if (rows.back().split(head.lines[i], layout.dialect) > RowFault::stray_quote) { rows.pop_back(); }
    }
    refuse_unit_row(rows, head, samples);
    CellRow const none;
    // The first row is looked at that has a number at all.
    auto const first = std::ranges::find_if(rows, [](CellRow const& one) { return !numeric(one.cells()).empty(); });
    choose_columns(layout, first == rows.end() ? none.cells() : first->cells(), samples);
    if (layout.header && !layout.known_writer) { layout.outcomes = outcome_columns(layout.names); }
    choose_rows(layout, samples);
    auto const value = static_cast<std::size_t>(layout.value);
    auto const marks = number_marks(head);
    if (value < marks.size()) { samples.set_marks(marks[value]); }
    bool const comma = std::ranges::any_of(
        rows, [&](CellRow const& row) { return row.cell(layout.value).find(',') != std::string_view::npos; });
    if (comma && samples.marks().comma == NumberMarks::Meaning::unknown && samples.marks().comma_groups) {
        samples.note("a comma in the values is taken for a mark of thousands");
    }
    if (layout.where.empty() && !layout.known_writer) { refuse_statistics(layout, rows, samples); }
    take_stated_unit(layout, rows);
    take_unit_behind(layout, rows);
    refuse_other_sentences(layout, rows, samples);
    refuse_moments(layout, rows, samples);
    if (!layout.unit.empty()) {
        samples.set_unit(*stated_time_unit(layout.unit), layout.unit_from);
        return layout;
    }
    std::vector<double> numbers;
    for (CellRow const& one : rows) {
        CellValue const cell = cell_value(one.cell(layout.value), CellMeasure::time, samples.marks());
        if (cell.kind == CellValue::Kind::bare) { numbers.push_back(cell.value); }
    }
    if (!numbers.empty()) {
        refuse_numbers_in_prose(layout, rows, samples);
        refuse_counts(layout, numbers, samples);
    }
    bool const named = layout.header && value < layout.names.size();
    assume_unit(std::move(numbers), samples, named ? std::string_view{layout.names[value]} : std::string_view{});
    return layout;
}

} // namespace headroom::io
