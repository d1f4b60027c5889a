#include "latencies/csv_layout.hpp"
#include "latencies/json_fields.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/sample_columns.hpp"
#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/time_stamp.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace headroom::io {
namespace {

/// Where what is looked for stands among the fields that are read of every object.
struct JsonLayout {
    std::vector<std::string> wanted; ///< names of fields
    std::set<std::string> names;     ///< of all fields of the first object; empty where the writer is known
    std::optional<std::size_t> value, time, unit_field;
    std::string unit, unit_from, time_unit, note;
    bool time_is_end = false;
    bool metric_chosen = false; ///< `where` holds the metric of a known writer
    std::vector<std::pair<std::size_t, std::string>> where;
    std::vector<std::pair<std::size_t, FailureMark>> failures;
    std::vector<std::pair<std::size_t, OutcomeColumn>> outcomes; ///< of writers that are not known

    std::size_t want(std::string const& name) {
        auto const at = std::ranges::find(wanted, name);
        if (at != wanted.end()) { return static_cast<std::size_t>(at - wanted.begin()); }
        wanted.push_back(name);
        return wanted.size() - 1;
    }
    /// Takes the fields among these that say whether a request failed.
    void want_outcomes(std::vector<std::string> const& fields, LatencyQuestion const& question) {
        if (question.keep_failed) { return; }
        for (OutcomeColumn const& one : outcome_columns(fields)) {
            std::string const& name = fields[static_cast<std::size_t>(one.column)];
            if (std::ranges::find(wanted, name) == wanted.end()) { outcomes.emplace_back(want(name), one); }
        }
    }
};

bool has(std::vector<std::string> const& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

/// Objects whose writers are known by their fields.
bool know_writer(JsonLayout& layout, std::vector<std::string> const& names) {
    using Kind = FailureMark::Kind;
    if (has(names, "metric") && has(names, "type")) { // k6: metrics are declared before their points come
        layout.value = layout.want("data.value");
        layout.time = layout.want("data.time");
        layout.time_is_end = true;
        layout.unit = "ms";
        layout.where = {{layout.want("type"), "Point"}, {layout.want("metric"), "http_req_duration"}};
        layout.metric_chosen = true;
        layout.failures = {{layout.want("data.tags.expected_response"), {.kind = Kind::is_false}}};
        layout.note = "k6: values of http_req_duration; times are those of answers, less the value";
    } else if (has(names, "latency") && has(names, "code") && has(names, "timestamp") && has(names, "seq")) { // vegeta
        layout.value = layout.want("latency");
        layout.time = layout.want("timestamp");
        layout.unit = "ns";
        layout.failures = {{layout.want("code"), {.kind = Kind::status}},
                           {layout.want("error"), {.kind = Kind::error}}};
        layout.note = "vegeta: latency, in nanoseconds";
    } else if (has(names, "traceId") && has(names, "id") && has(names, "timestamp") && has(names, "duration") &&
               !has(names, "spanId")) { // Zipkin
        layout.value = layout.want("duration");
        layout.time = layout.want("timestamp");
        layout.unit = layout.time_unit = "us";
        layout.where = {{layout.want("parentId"), ""}};
        layout.metric_chosen = true;
        layout.note = "Zipkin: durations of spans without a parent, in microseconds";
    } else if (has(names, "response_flags") && has(names, "duration") && has(names, "response_code")) { // Envoy
        layout.value = layout.want("duration");
        if (has(names, "start_time")) { layout.time = layout.want("start_time"); }
        layout.unit = "ms";
        layout.failures = {{layout.want("response_code"), {.kind = Kind::status}}};
        layout.note = "Envoy: duration, in milliseconds";
    } else {
        return false;
    }
    layout.unit_from = "format";
    return true;
}

ColumnMatch choose_value(std::vector<std::string> const& names, std::vector<ReadField> const& fields,
                         SampleBuilder const& samples) {
    LatencyQuestion const& question = samples.question();
    if (!question.column.empty()) {
        return asked_column(names, true, question.column, CellMeasure::time, samples.where());
    }
    if (auto known = value_column(names, samples.where()); known.found()) { return known; }
    std::vector<std::string> numbers;
    ColumnMatch only;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].is_nested || !cell_value(fields[i].value, CellMeasure::time).is_number()) { continue; }
        only.column = static_cast<int>(i);
        numbers.push_back(names[i]);
    }
    if (numbers.size() == 1) { return only; }
    refuse(samples.where(), numbers.empty() ? "no field holds a number" : "several fields hold numbers",
           names.empty() ? "the first object is empty" : one_of(numbers.empty() ? names : numbers),
           "name the one of the values: --column NAME");
}

/// Place of the unit that stands next to a value: "latency.unit" of "latency.value"; -1 where there is none.
int unit_next_to(std::string_view value, std::vector<std::string> const& names) {
    auto const point = value.rfind('.');
    if (point == std::string_view::npos) { return -1; }
    auto const at = std::ranges::find(names, std::string{value.substr(0, point)} + ".unit");
    return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}

/// The unit that a field states, as the first object has it; objects in others are refused.
/// Errors: InputError{usage} where the unit next to the value is none of time.
void take_stated_unit(JsonLayout& layout, JsonFields const& first, SampleBuilder const& samples) {
    if (!layout.unit.empty()) { return; }
    std::string const value = layout.value ? layout.wanted[*layout.value] : std::string{};
    int const next_to = unit_next_to(value, first.names());
    int const field = next_to >= 0 ? next_to : unit_column(first.names());
    auto const at = static_cast<std::size_t>(std::max(field, 0));
    auto const unit = field >= 0 ? time_unit(first.fields()[at].value) : std::nullopt;
    if (!unit && next_to >= 0) {
        refuse(samples.where(), headroom::quoted(value) + " is no time",
               "its unit is " + headroom::quoted(std::string{first.fields()[at].value}), "name another: --column NAME");
    }
    if (!unit) { return; }
    layout.unit = unit->name;
    layout.unit_from = "cells";
    layout.unit_field = layout.want(first.names()[at]);
}

JsonLayout json_layout(JsonFields const& first, SampleBuilder& samples) {
    LatencyQuestion const& question = samples.question();
    auto const& names = first.names();
    JsonLayout layout;
    bool const known = know_writer(layout, names);
    if (!known || !question.column.empty()) {
        ColumnMatch const value = choose_value(names, first.fields(), samples);
        std::size_t const place = layout.want(names.at(static_cast<std::size_t>(value.column)));
        if (layout.value != place) {
            layout.value = place;
            layout.unit = unit_of_column(value);
            layout.unit_from = value.unit ? "header" : "";
        }
        auto const time = time_column(names, value.column);
        if (!known && time.found()) {
            layout.time = layout.want(names.at(static_cast<std::size_t>(time.column)));
            layout.time_unit = unit_of_column(time);
        }
    }
    if (question.time_column == "none") {
        layout.time.reset();
    } else if (!question.time_column.empty()) {
        ColumnMatch const time = asked_column(names, true, question.time_column, CellMeasure::time, samples.where());
        layout.time = layout.want(names.at(static_cast<std::size_t>(time.column)));
        layout.time_unit = unit_of_column(time);
    }
    if (!question.time_unit.empty()) {
        layout.time_unit = std::string{asked_unit(question.time_unit, samples.where()).name};
    }
    for (auto const& [name, wanted] : question.where) {
        std::size_t const place = layout.want(name);
        std::erase_if(layout.where, [&](auto const& one) { return one.first == place; });
        layout.where.emplace_back(place, wanted);
    }
    if (question.keep_failed) { layout.failures.clear(); }
    if (known) { return layout; }
    take_stated_unit(layout, first, samples);
    layout.want_outcomes(names, question);
    layout.names = {names.begin(), names.end()};
    std::vector<std::string> unused;
    for (std::string const& name : names) {
        if (!has(layout.wanted, name)) { unused.push_back(name); }
    }
    samples.leave_out(unused, true);
    return layout;
}

class JsonLineReader {
public:
    explicit JsonLineReader(SampleBuilder& samples) : samples_{samples} {}
    void line(std::string_view text, std::uint64_t number);
    /// From the first object on; what is assumed of the unit needs more of them.
    void set_layout(JsonLayout layout, std::string_view head);
    /// Counts keys that the first object lacks.
    void finish() { samples_.leave_out(later_, true); }

private:
    void object(std::string_view text, std::uint64_t number);
    void look_for_other_keys(std::string_view text);
    std::optional<std::int64_t> time_of(CellValue const& cell, std::uint64_t number);

    SampleBuilder& samples_;
    JsonLayout layout_;
    JsonFields fields_, all_;
    TimeStamps times_;
    std::set<std::size_t> shapes_; ///< of objects whose keys were looked at
    std::vector<std::string> later_;
};

void JsonLineReader::set_layout(JsonLayout layout, std::string_view head) {
    layout_ = std::move(layout);
    fields_.want(layout_.wanted);
    times_ = TimeStamps{layout_.time_unit};
    samples_.found().column = layout_.value ? layout_.wanted[*layout_.value] : std::string{};
    if (layout_.time) { samples_.found().time_column = layout_.wanted[*layout_.time]; }
    if (!layout_.note.empty()) { samples_.note(layout_.note); }
    if (!layout_.unit.empty()) { return samples_.set_unit(*stated_time_unit(layout_.unit), layout_.unit_from); }
    std::vector<double> numbers;
    while (!head.empty()) {
        std::size_t const end = std::min(head.find('\n'), head.size());
        std::string_view const text = trimmed_line(head.substr(0, end));
        head.remove_prefix(std::min(end + 1, head.size()));
        bool const is_object = text.starts_with('{');
        if (is_object && (!layout_.value || !fields_.read_wanted(text))) { continue; }
        CellValue const cell = cell_value(is_object ? fields_.fields()[*layout_.value].value : text, CellMeasure::time);
        if (cell.kind == CellValue::Kind::bare) { numbers.push_back(cell.value); }
    }
    assume_unit(std::move(numbers), samples_, samples_.found().column);
}

void JsonLineReader::line(std::string_view text, std::uint64_t number) {
    text = trimmed_line(text);
    if (text.empty()) { return samples_.leave_out(SampleIssue::empty, number); }
    if (text[0] == '{') { return object(text, number); }
    if (text.size() > 1 && text[0] == '"' && text.back() == '"') { text = text.substr(1, text.size() - 2); }
    samples_.take_cell(cell_value(text, CellMeasure::time), std::nullopt, number);
}

std::optional<std::int64_t> JsonLineReader::time_of(CellValue const& cell, std::uint64_t number) {
    auto time = times_.read(fields_.fields()[*layout_.time].value);
    if (!time) {
        samples_.leave_out(SampleIssue::no_time, number);
        return SampleBuilder::no_time_known;
    }
    double const seconds = cell.kind == CellValue::Kind::bare ? samples_.unit().base(cell.value) : cell.value;
    constexpr double nano = 1e9, most = 4e18;
    std::int64_t earlier = 0;
    bool const subtract = layout_.time_is_end && seconds >= 0.0 && seconds * nano < most;
    if (subtract && !__builtin_sub_overflow(*time, static_cast<std::int64_t>(seconds * nano), &earlier)) {
        time = earlier;
    }
    return time;
}

void JsonLineReader::look_for_other_keys(std::string_view text) {
    constexpr std::size_t most = 1000;
    bool const looked_at = shapes_.contains(fields_.shape()) || shapes_.size() == most;
    if (layout_.names.empty() || looked_at) { return; }
    shapes_.insert(fields_.shape());
    all_.read_all(text);
    std::vector<std::string> added;
    for (std::string const& name : all_.names()) {
        if (layout_.names.insert(name).second) { added.push_back(name); }
    }
    layout_.want_outcomes(added, samples_.question()); // an error is often a field of failed requests alone
    fields_.want(layout_.wanted);
    fields_.read_wanted(text);
    for (std::string const& name : added) {
        if (later_.size() < most && !has(layout_.wanted, name)) { later_.push_back(name); }
    }
}

void JsonLineReader::object(std::string_view text, std::uint64_t number) {
    if (!fields_.read_wanted(text)) { return samples_.leave_out(SampleIssue::broken_json, number); }
    if (fields_.repeats()) { samples_.leave_out(SampleIssue::repeated_key, number); }
    look_for_other_keys(text);
    auto const& fields = fields_.fields();
    for (auto const& [place, wanted] : layout_.where) {
        if (fields[place].value == wanted) { continue; }
        if (layout_.metric_chosen) { samples_.leave_out(SampleIssue::other_metric, number); }
        return;
    }
    bool const stated = layout_.unit_field.has_value();
    if (stated && !states_unit(fields[*layout_.unit_field].value, layout_.unit, samples_.where(), number)) {
        return samples_.leave_out(SampleIssue::other_metric, number);
    }
    if (!layout_.value || fields[*layout_.value].value.data() == nullptr) {
        return samples_.leave_out(SampleIssue::no_column, number);
    }
    for (auto const& [place, mark] : layout_.failures) {
        bool const told = fields[place].value.data() != nullptr;
        if (told && mark.failed(fields[place].value)) { return samples_.leave_out(SampleIssue::failed, number); }
    }
    for (auto const& [place, outcome] : layout_.outcomes) {
        bool const there = fields[place].value.data() != nullptr;
        if (there && outcome.failed(fields[place].value)) { return samples_.leave_out(SampleIssue::failed, number); }
    }
    CellValue const value = cell_value(fields[*layout_.value].value, CellMeasure::time);
    std::optional<std::int64_t> sent;
    if (layout_.time && value.is_number()) { sent = time_of(value, number); }
    samples_.take_cell(value, sent, number);
}

/// The first line that is an object, read with all its fields; what is broken before it is left out with the rest.
bool read_first_object(std::string_view head, JsonFields& fields) {
    while (!head.empty()) {
        std::size_t const end = std::min(head.find('\n'), head.size());
        std::string_view const line = trimmed_line(head.substr(0, end));
        if (line.starts_with('{') && fields.read_all(line)) { return true; }
        head.remove_prefix(std::min(end + 1, head.size()));
    }
    return false;
}

} // namespace

bool looks_like_json_lines(std::string_view head) {
    JsonFields fields;
    head = whole_lines(head);
    return trimmed_line(head).starts_with('{') && !is_json_document(head) && read_first_object(head, fields);
}

void read_json_lines(HeadSource& source, SampleBuilder& samples) {
    std::string_view const head = whole_lines(source.head());
    JsonLineReader reader{samples};
    JsonFields first;
    reader.set_layout(read_first_object(head, first) ? json_layout(first, samples) : JsonLayout{}, head);
    LineFeed lines{source, samples.where(), samples.question().stop};
    for (std::string_view line; lines.next(line);) { reader.line(line, lines.number()); }
    reader.finish();
    samples.found().rows = lines.number();
    tell_source(source, lines, samples);
}

} // namespace headroom::io
