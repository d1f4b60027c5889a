#include "headroom/io/request_trace.hpp"

#include "latencies/csv_row.hpp"
#include "latencies/line_feed.hpp"
#include "records/record.hpp"
#include "tables/request_columns.hpp"
#include "traces/byte_source.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace headroom::io {
namespace {

constexpr SourceLimits limits{.text = std::uint64_t{64} << 30, .ratio = 2000.0};

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

/// The character that cuts the header most often.
char separator_of(std::string_view header) {
    char best = ',';
    for (char const one : {';', '\t'}) {
        if (std::ranges::count(header, one) > std::ranges::count(header, best)) { best = one; }
    }
    return best;
}

/// Rows one by one, and what was wrong with them.
class Collector {
public:
    Collector(std::string_view where, RequestTrace& trace) : where_{where}, trace_{trace} {}

    void columns(RequestColumns columns) {
        columns_ = std::move(columns);
        trace_.notes.insert(trace_.notes.end(), columns_.notes.begin(), columns_.notes.end());
        trace_.time_column = columns_.names[0];
        trace_.prompt_column = columns_.names[1];
        trace_.output_column = columns_.names[2];
    }
    [[nodiscard]] RequestColumns const& columns() const { return columns_; }

    void dirty(std::string_view kind, std::uint64_t line) {
        auto const known = std::ranges::find(trace_.dirt, kind, &RequestTrace::Dirt::kind);
        if (known != trace_.dirt.end()) {
            ++known->count;
        } else {
            trace_.dirt.push_back({std::string{kind}, 1, line});
        }
    }

    void row(std::string_view time, std::string_view prompt, std::string_view output, std::uint64_t line) {
        auto const when = time_from(time, columns_.unit_seconds);
        if (!when) { return dirty("arrival is no time", line); }
        if (when->text == TimeText::bare && columns_.unit_seconds <= 0.0) { refuse_bare(time, line); }
        if (kind_ == TimeText::unknown) { kind_ = when->text; }
        if (when->text != kind_) { return dirty("arrival is written in another way than those before", line); }
        auto const in = tokens_from(prompt), out = tokens_from(output);
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
        trace_.time_unit = bare ? columns_.unit : kind_ == TimeText::date ? "date and time" : "own units";
        trace_.unit_from = bare ? columns_.unit_from : "cells";
    }

private:
    [[noreturn]] void refuse_bare(std::string_view time, std::uint64_t line) const {
        usage_error(fmt::format("{}:{}", where_, line), fmt::format("{} has no unit", headroom::quoted(time)),
                    fmt::format("neither does its column {}", headroom::quoted(columns_.names[0])),
                    "say it: --time-unit ms");
    }
    [[noreturn]] void refuse_empty() const {
        std::string why = trace_.rows == 0 ? "it has no rows" : fmt::format("none of its {} rows is one", trace_.rows);
        if (!trace_.dirt.empty()) {
            why += fmt::format("; line {}: {}", trace_.dirt.front().first_line, trace_.dirt.front().kind);
        }
        throw InputError{Fault::insufficient, {.where = std::string{where_}, .problem = "no requests", .why = why}};
    }

    std::string_view where_;
    RequestTrace& trace_;
    RequestColumns columns_;
    TimeText kind_ = TimeText::unknown;
    std::vector<std::int64_t> times_;
};

void read_table(LineFeed& lines, std::string_view header, std::string_view where, RequestTraceQuestion const& question,
                RequestTrace& trace, Collector& collector) {
    trace.format = "csv";
    char const separator = separator_of(header);
    CsvRow row;
    if (!row.split(header, separator)) {
        unreadable_error(fmt::format("{}:{}", where, lines.number()), "a quote that is never closed", "");
    }
    collector.columns(find_request_columns({row.cells().begin(), row.cells().end()}, where, false, question));
    auto const at = collector.columns().at;
    std::size_t const width = row.cells().size();
    for (std::string_view line; lines.next(line);) {
        if (is_blank(line)) { continue; }
        ++trace.rows;
        if (!row.split(line, separator) || row.cells().size() != width) {
            collector.dirty("not as many cells as the header", lines.number());
        } else {
            auto const& cells = row.cells();
            collector.row(cells[at[0]], cells[at[1]], cells[at[2]], lines.number());
        }
    }
}

/// A number or a text as it stands; nothing for all else.
std::optional<std::string> cell_of(nlohmann::json const& object, std::string const& key) {
    auto const found = object.find(key);
    if (found == object.end()) { return std::nullopt; }
    if (found->is_string()) { return found->get<std::string>(); }
    return found->is_number() ? std::optional{found->dump()} : std::nullopt;
}

void read_objects(LineFeed& lines, std::string_view first, std::string_view where, RequestTraceQuestion const& question,
                  RequestTrace& trace, Collector& collector) {
    trace.format = "jsonl";
    bool known = false;
    std::string_view line = first;
    do {
        if (is_blank(line)) { continue; }
        ++trace.rows;
        auto const object = nlohmann::json::parse(line, nullptr, false);
        if (!object.is_object()) {
            collector.dirty("no JSON object", lines.number());
            continue;
        }
        if (!known) {
            std::vector<std::string> keys;
            for (auto const& member : object.items()) { keys.push_back(member.key()); }
            collector.columns(find_request_columns(keys, where, true, question));
            known = true;
        }
        auto const& names = collector.columns().names;
        auto const time = cell_of(object, names[0]), prompt = cell_of(object, names[1]),
                   output = cell_of(object, names[2]);
        if (time && prompt && output) {
            collector.row(*time, *prompt, *output, lines.number());
        } else {
            collector.dirty("an object without one of the three", lines.number());
        }
    } while (lines.next(line));
}

void check_whole(ByteSource const& source, std::string_view where) {
    if (source.damage().empty()) { return; }
    unreadable_error(where, fmt::format("the archive is {}", source.damage()), "", "fetch it again");
}

RequestTrace read_source(ByteSource& source, std::string_view where, RequestTraceQuestion const& question) {
    RequestTrace trace;
    LineFeed lines{source, where};
    Collector collector{where, trace};
    std::string_view line;
    bool any = lines.next(line);
    while (any && is_blank(line)) { any = lines.next(line); }
    if (!any) {
        check_whole(source, where);
        throw InputError{Fault::insufficient,
                         {.where = std::string{where}, .problem = "no requests", .why = "it is empty"}};
    }
    if (line.find('\0') != std::string_view::npos) {
        unreadable_error(fmt::format("{}:{}", where, lines.number()), "a zero byte", "the file is not text");
    }
    char const begins = line[line.find_first_not_of(" \t\r")];
    if (begins == '[') {
        unreadable_error(where, "one JSON array", "requests are read line by line",
                         "write one object a line: jq -c '.[]'");
    }
    std::string const held{line}; // what `line` shows moves when more is read
    if (begins == '{') {
        read_objects(lines, held, where, question, trace, collector);
    } else {
        read_table(lines, held, where, question, trace, collector);
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
    auto const source = open_source(path, limits);
    return read_source(*source, path.string(), question);
}

RequestTrace read_request_text(std::string_view text, std::string_view where, RequestTraceQuestion const& question) {
    auto const source = open_source(text, std::string{where}, limits);
    return read_source(*source, where, question);
}

} // namespace headroom::io
