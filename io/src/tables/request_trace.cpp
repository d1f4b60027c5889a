#include "headroom/io/request_trace.hpp"

#include "latencies/line_feed.hpp"
#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/columns.hpp"
#include "tables/failed_rows.hpp"
#include "tables/phrases.hpp"
#include "tables/rows.hpp"
#include "tables/time_stamp.hpp"
#include "traces/head_source.hpp"
#include "unread_bytes.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <set>

namespace headroom::io {

using namespace headroom::serving;

namespace {

constexpr SourceLimits limits{.text = std::uint64_t{64} << 30, .ratio = 2000.0};

// Fields of a request, in this order everywhere; of several columns that fit one the surest is taken.
constexpr std::size_t request_fields = 3;
constexpr std::array<ColumnRow, request_fields> request_rows{{
    {.names =
         "timestamp arrival arrivaltime arrivaltimestamp arrivedat arrivesat arrives arrived requesttime requestedat "
         "requesttimestamp sentat senttime submittime starttime createdat created time datetime offset ts t",
     .measure = CellMeasure::time,
     .required = true,
     .what = "when a request arrived",
     .option = "--time-column"},
    {.names = "prompttokens inputtokens contexttokens requesttokens promptlength inputlength promptlen inputlen "
              "prefilltokens contextlength numprefilltokens numprompttokens numinputtokens numcontexttokens tokensin "
              "prefilllength prompt input",
     .required = true,
     .what = "the tokens of a prompt",
     .option = "--prompt-column",
     .remarks = "tokens token"},
    {.names = "outputtokens generatedtokens responsetokens completiontokens outputlength outputlen decodetokens "
              "generationtokens responselength generatedlength numdecodetokens numoutputtokens numgeneratedtokens "
              "completionlength tokensout decodelength output completion",
     .required = true,
     .what = "the tokens that came out",
     .option = "--output-column",
     .remarks = "tokens token"},
}};

/// Traces whose authors state the unit of bare times.
struct KnownTrace {
    std::string_view name;
    std::array<std::string_view, request_fields> columns;
    bool objects;
    std::string_view unit;
};
constexpr std::array known_traces{
    KnownTrace{"Mooncake", {"timestamp", "input_length", "output_length"}, true, "ms"},
    KnownTrace{"BurstGPT", {"Timestamp", "Request tokens", "Response tokens"}, false, "s"},
    KnownTrace{"Vidur", {"arrived_at", "num_prefill_tokens", "num_decode_tokens"}, false, "s"},
};

/// Columns of a file (or keys of its objects) that hold a request, and the unit of a bare time.
struct RequestColumns {
    std::array<int, request_fields> at{};            ///< indices into the header
    std::array<std::string, request_fields> names{}; ///< as the file has them
    std::array<NumberMarks, request_fields> marks{};
    std::vector<std::pair<std::string, OutcomeColumn>> outcomes{}; ///< columns that say whether a request failed
    std::optional<CellUnit> unit;                                  ///< of bare times
    std::string unit_from;
};

/// Keys without the objects around them where no other key is left so: "prompt_tokens" of "usage.prompt_tokens".
std::vector<std::string> last_parts(std::vector<std::string> const& names) {
    std::vector<std::string> last;
    for (std::string const& name : names) { last.push_back(name.substr(name.rfind('.') + 1)); }
    std::vector<std::string> heads = last;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (std::ranges::count(last, last[i]) > 1) { heads[i] = names[i]; }
    }
    return heads;
}

void find_outcomes(RequestColumns& found, std::vector<std::string> const& header) {
    for (OutcomeColumn const& one : outcome_columns(last_parts(header))) {
        std::string const& name = header.at(static_cast<std::size_t>(one.column));
        if (std::ranges::find(found.names, name) == found.names.end()) { found.outcomes.emplace_back(name, one); }
    }
}

void find_unit(RequestColumns& found, std::optional<CellUnit> of_head, bool objects,
               RequestTraceQuestion const& question, std::vector<std::string>& notes) {
    if (!question.time_unit.empty()) {
        found.unit = time_unit(question.time_unit);
        found.unit_from = "given";
        if (found.unit) { return; }
        refuse("--time-unit", fmt::format("{} is no unit of time", headroom::quoted(question.time_unit)), {},
               "write s, ms, us or ns");
    }
    found.unit = of_head;
    found.unit_from = "header";
    for (KnownTrace const& trace : known_traces) {
        if (found.unit || trace.objects != objects || !std::ranges::equal(trace.columns, found.names)) { continue; }
        found.unit = time_unit(trace.unit);
        found.unit_from = "format";
        notes.push_back(fmt::format("bare times are {} as in the traces of {}", trace.unit, trace.name));
    }
}

/// The columns asked for, else those of the usual names.
/// Errors: InputError{usage} where one is not there, or --time-unit is no unit of time.
RequestColumns find_columns(std::vector<std::string> const& header, bool named, std::string_view where, bool objects,
                            RequestTraceQuestion const& question, RequestTrace& trace) {
    std::array<std::string, request_fields> const asked{question.time_column, question.prompt_column,
                                                        question.output_column};
    RequestColumns found;
    std::optional<CellUnit> unit;
    std::vector<std::string> const heads = objects ? last_parts(header) : header;
    for (std::size_t i = 0; i < request_fields; ++i) {
        ColumnRow const& row = request_rows.at(i);
        ColumnMatch const match = asked.at(i).empty()
                                      ? match_column(heads, row)
                                      : asked_column(header, named, asked.at(i), row.measure, row.option);
        bool const sure = !asked.at(i).empty() || match.rank < ColumnMatch::unit_alone;
        if (!match.found() || !sure) {
            refuse_missing_column(header, where, row.what, fmt::format("name it: {} NAME", row.option));
        }
        found.at.at(i) = match.column;
        found.names.at(i) = header.at(static_cast<std::size_t>(match.column));
        if (i == 0) { unit = match.unit; }
        bool const stated = !asked.at(i).empty() || (i == 0 && !question.time_unit.empty());
        if (match.unread && !stated) { refuse_unread(found.names.at(i), row, where); }
    }
    if (found.at[0] == found.at[1] || found.at[0] == found.at[2] || found.at[1] == found.at[2]) {
        refuse(std::string{where}, "one column is asked for twice", "a time and two counts are three columns",
               "name three");
    }
    find_unit(found, unit, objects, question, trace.notes);
    find_outcomes(found, header);
    std::vector<int> used{found.at.begin(), found.at.end()};
    for (auto const& [name, outcome] : found.outcomes) { used.push_back(outcome.column); }
    report_unused(trace.issues, unused_columns(header, used), objects);
    return found;
}

enum class TimeText { unknown, bare, with_unit, date };

/// A time as whole nanoseconds, and how it was written.
struct TimeCell {
    std::int64_t nanoseconds = 0;
    TimeText text = TimeText::unknown;
};

/// "2023-11-16 18:15:46.6805900", "12.5ms", "1:02:03" or "12.5"; nothing where it is none of these, or beyond 290 years.
std::optional<TimeCell> time_from(std::string_view cell, RequestColumns const& columns) {
    constexpr double in_a_second = 1e9, longest_seconds = 9.1e9; // 2^63 nanoseconds are 9.22e9 seconds
    if (auto const date = date_and_time(cell)) { return TimeCell{*date, TimeText::date}; }
    CellValue const value = cell_value(cell, CellMeasure::time, columns.marks[0]);
    bool const bare = value.kind == CellValue::Kind::bare;
    if (!value.is_number()) { return std::nullopt; }
    double const seconds = bare ? columns.unit.value_or(CellUnit{}).base(value.value) : value.value;
    if (std::abs(seconds) > longest_seconds) { return std::nullopt; }
    return TimeCell{std::llround(seconds * in_a_second), bare ? TimeText::bare : TimeText::with_unit};
}

/// Whole tokens, not negative; nothing for anything else.
std::optional<double> tokens_from(std::string_view cell, NumberMarks const& marks) {
    CellValue const value = cell_value(cell, CellMeasure::nothing, marks);
    bool const whole = value.is_number() && value.value >= 0.0 && value.value == std::floor(value.value);
    return whole ? std::optional{value.value} : std::nullopt;
}

/// Rows one by one, and what was wrong with them.
class Collector {
public:
    Collector(std::string_view where, RequestTrace& trace) : where_{where}, trace_{trace} {}

    void columns(RequestColumns columns) {
        columns_ = std::move(columns);
        trace_.time_column = columns_.names[0];
        trace_.prompt_column = columns_.names[1];
        trace_.output_column = columns_.names[2];
    }
    [[nodiscard]] RequestColumns& columns() { return columns_; }

    void dirty(std::string_view kind, std::uint64_t line) {
        count_issue(trace_.issues, Issue{.kind = std::string{kind}, .count = 1, .line = line});
    }

    void failed(std::uint64_t line) { dirty("failed request", line); }

    void row(std::string_view time, std::string_view prompt, std::string_view output, std::uint64_t line) {
        if (!columns_.unit) { take_unix_unit(time); }
        auto const when = time_from(time, columns_);
        bool const bare =
            when ? when->text == TimeText::bare : decimal_number(time).has_value(); // nanoseconds are too many
        if (bare && !columns_.unit) { refuse_bare(time, line); }
        if (!when) { return dirty("arrival is no time", line); }
        if (kind_ == TimeText::unknown) { kind_ = when->text; }
        if (when->text != kind_) { return dirty("arrival is written in another way than those before", line); }
        auto const in = tokens_from(prompt, columns_.marks[1]), out = tokens_from(output, columns_.marks[2]);
        if (!in) { return dirty("prompt is no count of tokens", line); }
        if (!out) { return dirty("output is no count of tokens", line); }
        if (*in < 1.0) { return dirty("prompt without tokens", line); }
        if (*out < 1.0) { return dirty("nothing was generated", line); }
        if (std::max(*in, *out) > most_recorded_tokens) { return dirty("more than 100 million tokens", line); }
        if (!times_.empty() && when->nanoseconds < times_.back() && trace_.out_of_order++ == 0) {
            trace_.first_out_of_order = line;
        }
        if (times_.size() == most_recorded_requests) {
            unreadable_error(fmt::format("{}:{}", where_, line), "more than 50 million requests", "",
                             "give a part of it");
        }
        times_.push_back(when->nanoseconds);
        trace_.requests.push_back({0.0, static_cast<int>(*in), static_cast<int>(*out)});
    }

    /// Times from the first arrival on, in order.
    void finish() {
        if (times_.empty()) { refuse_empty(); }
        std::int64_t const first = *std::ranges::min_element(times_);
        for (std::size_t i = 0; i < times_.size(); ++i) {
            // unsigned: two dates may lie further apart than half the range
            auto const since = static_cast<std::uint64_t>(times_[i]) - static_cast<std::uint64_t>(first);
            trace_.requests[i].arrives = static_cast<double>(since) * 1e-9;
        }
        if (trace_.out_of_order > 0) { std::ranges::stable_sort(trace_.requests, {}, &ServingRequest::arrives); }
        bool const bare = kind_ == TimeText::bare;
        trace_.time_unit = bare                      ? std::string{columns_.unit->name}
                           : kind_ == TimeText::date ? "date and time"
                                                     : "own units";
        trace_.unit_from = bare ? columns_.unit_from : "cells";
    }

private:
    /// Unit of a bare time since 1970, by its digits: 10 of seconds, 13, 16 and 19 of milli-, micro- and nanoseconds.
    void take_unix_unit(std::string_view time) {
        constexpr double first = 1e9, last = 4e9; // the years 2001 to 2096; a clock since boot has such digits, too
        std::string const name_of_time = in_lower_case(columns_.names[0]);
        if (std::ranges::none_of(std::array{"created", "unix", "epoch"},
                                 [&](char const* word) { return name_of_time.find(word) != std::string::npos; })) {
            return;
        }
        auto const number = decimal_number(time);
        for (std::string_view const name : {"s", "ms", "us", "ns"}) {
            CellUnit const unit = *io::time_unit(name);
            if (!number || unit.base(*number) < first || unit.base(*number) > last) { continue; }
            columns_.unit = unit;
            columns_.unit_from = "digits";
            trace_.notes.push_back(fmt::format("bare times are Unix times in {}, by their digits", name));
            return;
        }
    }
    [[noreturn]] void refuse_bare(std::string_view time, std::uint64_t line) const {
        refuse(fmt::format("{}:{}", where_, line), fmt::format("{} has no unit", headroom::quoted(time)),
               fmt::format("neither does its column {}", headroom::quoted(columns_.names[0])),
               "say it: --time-unit ms");
    }
    [[noreturn]] void refuse_empty() const {
        std::string why = trace_.rows == 0 ? "it has no rows" : fmt::format("none of its {} rows is one", trace_.rows);
        auto const row = std::ranges::find_if(trace_.issues, [](Issue const& one) { return one.line > 0; });
        if (row != trace_.issues.end()) { why += fmt::format("; line {}: {}", row->line, row->kind); }
        too_little(where_, "no requests", why);
    }

    std::string_view where_;
    RequestTrace& trace_;
    RequestColumns columns_;
    TimeText kind_ = TimeText::unknown;
    std::vector<std::int64_t> times_;
};

void read_table(LineFeed& lines, TableHead const& head, std::string_view where, RequestTraceQuestion const& question,
                RequestTrace& trace, Collector& collector) {
    trace.format = "csv";
    CellRow row;
    if (!head.lines.empty() && row.split(head.lines.front(), head.dialect) > RowFault::stray_quote) {
        unreadable_error(fmt::format("{}:{}", where, head.skipped + 1), "a quote that is never closed", "");
    }
    CellRow next;
    constexpr std::size_t shortest = 3; // a head, its units and a row
    if (head.named && head.lines.size() >= shortest && row.split(head.lines[1], head.dialect) == RowFault::none &&
        next.split(head.lines[2], head.dialect) == RowFault::none && is_row_of_units(row.cells(), next.cells())) {
        unreadable_error(std::string{where}, "a row of units below the head", "",
                         "write units into the head: time (ms)");
    }
    std::vector<std::string> const header = head.names();
    RequestColumns columns = find_columns(header, head.has_names(), where, false, question, trace);
    auto const marks = number_marks(head);
    for (std::size_t i = 0; i < request_fields; ++i) {
        columns.marks.at(i) = marks.at(static_cast<std::size_t>(columns.at.at(i)));
    }
    auto const at = columns.at;
    auto const failed = [outcomes = columns.outcomes](CellRow const& cells) {
        return std::ranges::any_of(outcomes,
                                   [&](auto const& one) { return one.second.failed(cells.cell(one.second.column)); });
    };
    collector.columns(std::move(columns));
    for (std::string_view line; lines.next(line);) {
        bool const is_header = head.named && lines.number() == head.skipped + 1;
        if (is_header || is_no_row(line, head.dialect)) { continue; }
        ++trace.rows;
        bool const split = row.split(line, head.dialect) <= RowFault::stray_quote;
        if (!split || row.cells().size() != header.size()) {
            collector.dirty("not as many cells as the header", lines.number());
        } else if (failed(row)) {
            collector.failed(lines.number());
        } else {
            collector.row(row.cell(at[0]), row.cell(at[1]), row.cell(at[2]), lines.number());
        }
    }
}

/// An object whose members within objects have names with points: "usage.prompt_tokens".
nlohmann::json flat_object(nlohmann::json const& object, std::string const& before = {}, int depth = 0) {
    constexpr int deepest = 8;
    nlohmann::json flat = nlohmann::json::object();
    for (auto const& [key, value] : object.items()) {
        if (value.is_object() && !value.empty() && depth < deepest) {
            flat.update(flat_object(value, before + key + ".", depth + 1));
        } else {
            flat[before + key] = value;
        }
    }
    return flat;
}

/// A number or a text as it stands; nothing for all else.
std::optional<std::string> cell_of(nlohmann::json const& object, std::string const& key) {
    auto const found = object.find(key);
    if (found == object.end()) { return std::nullopt; }
    if (found->is_string()) { return found->get<std::string>(); }
    return found->is_number() ? std::optional{found->dump()} : std::nullopt;
}

bool has_failed(nlohmann::json const& object, RequestColumns const& columns) {
    return std::ranges::any_of(columns.outcomes, [&](auto const& one) {
        auto const found = object.find(one.first);
        if (found == object.end() || found->is_null()) { return false; }
        return one.second.failed(found->is_string() ? found->template get<std::string>() : found->dump());
    });
}

void read_objects(LineFeed& lines, std::string_view where, RequestTraceQuestion const& question, RequestTrace& trace,
                  Collector& collector) {
    trace.format = "jsonl";
    std::set<std::string> known;
    std::vector<std::string> later; ///< keys that the first object lacks
    for (std::string_view line; lines.next(line);) {
        if (trimmed_line(line).empty()) { continue; }
        ++trace.rows;
        auto const parsed = nlohmann::json::parse(line, nullptr, false);
        if (!parsed.is_object()) {
            collector.dirty("no JSON object", lines.number());
            continue;
        }
        auto const object = flat_object(parsed);
        if (known.empty()) {
            for (auto const& member : object.items()) { known.insert(member.key()); }
            collector.columns(find_columns({known.begin(), known.end()}, true, where, true, question, trace));
        }
        constexpr std::size_t most_keys = 1000;
        std::vector<std::string> added;
        for (auto const& member : object.items()) {
            if (known.size() < most_keys && known.insert(member.key()).second) { added.push_back(member.key()); }
        }
        if (!added.empty()) {
            auto& outcomes = collector.columns().outcomes;
            find_outcomes(collector.columns(), added); // an error is often a key of failed requests alone
            std::ranges::copy_if(added, std::back_inserter(later), [&](std::string const& name) {
                return std::ranges::find(outcomes, name, &std::pair<std::string, OutcomeColumn>::first) ==
                       outcomes.end();
            });
        }
        auto const& names = collector.columns().names;
        auto const time = cell_of(object, names[0]), prompt = cell_of(object, names[1]),
                   output = cell_of(object, names[2]);
        if (has_failed(object, collector.columns())) {
            collector.failed(lines.number());
        } else if (time && prompt && output) {
            collector.row(*time, *prompt, *output, lines.number());
        } else {
            collector.dirty("an object without one of the three", lines.number());
        }
    }
    report_unused(trace.issues, later, true);
}

void check_whole(ByteSource const& source, std::string_view where) {
    if (source.damage().empty()) { return; }
    unreadable_error(where, fmt::format("the archive is {}", source.damage()), "", "fetch it again");
}

/// Elements of a JSON array, one a line.
std::string array_lines(HeadSource& source, std::string_view where) {
    constexpr std::size_t part = std::size_t{64} << 10, most = std::size_t{256} << 20;
    std::string text;
    for (std::size_t got = part; got == part;) {
        std::size_t const before = text.size();
        text.resize(before + part);
        got = source.read(text.data() + before, part);
        text.resize(before + got);
        if (text.size() > most) {
            unreadable_error(where, "a JSON array of more than 256 MiB", {}, "write one object a line: jq -c '.[]'");
        }
    }
    auto const checked = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json const&) {
        constexpr int deepest = 64;
        if (depth > deepest) { unreadable_error(where, "JSON that is nested too deeply", {}); }
        return true;
    };
    auto const list = nlohmann::json::parse(text, checked, false);
    if (!list.is_array()) { unreadable_error(where, "no JSON array", "it begins as one"); }
    std::string lines;
    for (auto const& element : list) {
        lines += element.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
    }
    return lines;
}

RequestTrace read_source(std::unique_ptr<ByteSource> bytes, std::string_view where,
                         RequestTraceQuestion const& question) {
    HeadSource source{std::move(bytes), table_head_bytes};
    refuse_unread(source.head(), where, "it is not read as requests",
                  {.zip = "unpack it first: unzip", .database = "write its table as CSV"});
    std::string_view const begin = whole_lines(source.head());
    auto const first = begin.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) {
        check_whole(source, where);
        too_little(where, "no requests", "it is empty");
    }
    if (begin.find('\0') != std::string_view::npos) { unreadable_error(where, "a zero byte", "the file is not text"); }
    RequestTrace trace;
    Collector collector{where, trace};
    if (begin[first] == '[') {
        std::string const text = array_lines(source, where);
        HeadSource elements{open_source(text, std::string{where}, limits), table_head_bytes};
        LineFeed lines{elements, where};
        trace.notes.push_back("a list of JSON: places are numbers of its elements, not lines");
        read_objects(lines, where, question, trace, collector);
        check_whole(source, where);
        collector.finish();
        return trace;
    }
    LineFeed lines{source, where};
    if (begin[first] == '{') {
        read_objects(lines, where, question, trace, collector);
    } else {
        read_table(lines, table_head(begin), where, question, trace, collector);
    }
    check_whole(source, where);
    collector.finish();
    return trace;
}

} // namespace

Seconds RequestTrace::span() const {
    return requests.empty() ? Seconds{} : Seconds{requests.back().arrives - requests.front().arrives};
}

RequestTrace read_request_trace(std::filesystem::path const& path, RequestTraceQuestion const& question) {
    return read_source(open_source(path, limits), path.string(), question);
}

RequestTrace read_request_text(std::string_view text, std::string_view where, RequestTraceQuestion const& question) {
    return read_source(open_source(text, std::string{where}, limits), where, question);
}

} // namespace headroom::io
