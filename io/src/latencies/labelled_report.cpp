#include "latencies/latency_formats.hpp"
#include "latencies/metric_report.hpp"
#include "tables/cell_text.hpp"
#include "tables/rows.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::io {
namespace {

/// A figure of a report: "P99 latency: 98.7 ms".
struct TextFigure {
    FigureName name;
    ReportMetric::Figure value;
};

constexpr std::string_view between = " \t=:|<>,;[]";

/// Without what loggers put before a line: "[01/01/2026-00:00:00] [I] ", "[BENCHMARK] ".
std::string_view without_marks(std::string_view line) {
    line = trimmed_line(line);
    while (line.starts_with('[')) {
        std::size_t const end = line.find(']');
        std::string_view const mark = line.substr(1, end == std::string_view::npos ? end : end - 1);
        bool const known = is_word_of("I W INFO BENCHMARK", mark) || mark.find_first_of("0123456789") == 0;
        if (end == std::string_view::npos || !known) { break; }
        line = trimmed_line(line.substr(end + 1));
    }
    return line;
}

struct Word {
    std::string_view text;
    std::size_t at = 0;
};

std::vector<Word> words_of(std::string_view line) {
    std::vector<Word> words;
    for (std::size_t at = 0; at < line.size();) {
        at = line.find_first_not_of(between, at);
        if (at == std::string_view::npos) { break; }
        std::size_t const end = std::min(line.find_first_of(between, at), line.size());
        words.push_back({line.substr(at, end - at), at});
        at = end;
    }
    return words;
}

/// A number of a line, with the unit that follows it.
struct Value {
    std::size_t word = 0, end = 0; ///< its place among the words, and where it ends in the line
    double number = 0.0;
    std::optional<CellUnit> unit;
    bool is_assigned = false; ///< "=" or ":" stands before it
    bool ends_line = false;
};

std::vector<Value> values_of(std::string_view line, std::vector<Word> const& words) {
    std::vector<Value> values;
    for (std::size_t i = 1; i < words.size(); ++i) {
        std::string_view const word = words[i].text;
        std::size_t const digits = std::min(word.find_first_not_of("0123456789.eE+-"), word.size());
        auto const number = decimal_number(word.substr(0, digits));
        std::string_view unit = word.substr(digits);
        std::size_t next = i + 1;
        if (unit.empty() && next < words.size() && time_unit(words[next].text)) { unit = words[next++].text; }
        auto const known = time_unit(unit);
        bool const label = next < words.size() && same_caseless(words[next].text, "percentile");
        if (!number || label || (!unit.empty() && !known)) { continue; }
        std::size_t const before = words[i - 1].at + words[i - 1].text.size();
        values.push_back(
            {.word = i,
             .end = words[next - 1].at + words[next - 1].text.size(),
             .number = *number,
             .unit = known,
             .is_assigned = line.substr(before, words[i].at - before).find_first_of("=:") != std::string_view::npos,
             .ends_line = next == words.size()});
        i = next - 1;
    }
    return values;
}

/// Figures of a line: those behind "=" or ":", else those with units, else the last number. What stands before the first
/// names the others, too: "Latency: min = 3.1 ms, max = 4.1 ms". A remark in brackets at the end is none of them.
std::vector<TextFigure> figures_of(std::string_view line, std::uint64_t number) {
    if (std::size_t const open = line.rfind(" ("); line.ends_with(')') && open != std::string_view::npos) {
        std::vector<Word> const words = words_of(line.substr(0, open));
        bool const behind =
            !words.empty() && !values_of(line, words).empty() && values_of(line, words).back().ends_line;
        if (behind) { line = line.substr(0, open); }
    }
    std::vector<Word> const words = words_of(line);
    std::vector<Value> values = values_of(line, words);
    bool const assigned = std::ranges::any_of(values, &Value::is_assigned);
    bool const units = std::ranges::count_if(values, [](Value const& one) { return one.unit.has_value(); }) >= 2;
    if (assigned || units) {
        std::erase_if(values, [&](Value const& one) { return assigned ? !one.is_assigned : !one.unit; });
    } else if (!values.empty()) {
        values.erase(values.begin(), values.end() - 1);
        if (!values.back().ends_line) { values.clear(); }
    }
    std::vector<TextFigure> figures;
    std::optional<FigureName> first; // names the others, too
    std::size_t begin = 0;
    for (Value const& one : values) {
        TextFigure figure{.name = figure_name(line.substr(begin, words[one.word].at - begin)),
                          .value = {.line = number}};
        begin = one.end;
        figure.value.value = one.unit ? one.unit->base(one.number) : one.number;
        figure.value.in_seconds = one.unit.has_value();
        if (!first) { first = figure.name; }
        if (figure.name.metric.empty()) {
            figure.name.metric = first->metric;
            figure.name.is_rate = figure.name.is_rate || first->is_rate;
            if (!figure.name.unit) { figure.name.unit = first->unit; }
        }
        if (figure.name.is_known()) { figures.push_back(std::move(figure)); }
    }
    return figures;
}

/// The quantities that a text states. A line without a figure is the title of those below it.
MetricReport read_report(std::string_view text, SampleBuilder* samples) {
    MetricReport report;
    FigureName title;
    bool skipped = false; // cumulative counts state the same percentiles again
    TextLines lines{text};
    for (std::string_view line; lines.next(line);) {
        bool const rule = std::ranges::none_of(line, [](unsigned char c) { return std::isalnum(c) != 0; });
        if (rule) { continue; }
        std::string_view const plain = without_marks(line);
        auto figures = figures_of(plain, lines.number());
        if (figures.empty()) {
            if (values_of(plain, words_of(plain)).empty()) { title = figure_name(plain); }
            skipped = plain.starts_with("Cumulative distribution");
            bool const pandas = plain.starts_with("Name: "); // "Name: latency_ms, dtype: float64", at the end
            if (auto const unit = figure_name(plain.substr(0, plain.find(','))).unit; pandas && unit) {
                report.assume(*unit);
            }
        }
        if (figures.empty() || skipped) {
            bool const words = plain.find_first_of("0123456789") != std::string_view::npos;
            if (samples != nullptr && words) { samples->leave_out(SampleIssue::unused_line, lines.number(), 1, line); }
            continue;
        }
        for (TextFigure& figure : figures) {
            bool const own = !figure.name.metric.empty();
            if (!own && title.is_rate) { continue; }
            ReportMetric& metric = report.metric(own ? figure.name.metric : title.metric);
            if (!metric.unit) { metric.unit = figure.name.unit ? figure.name.unit : title.unit; }
            report.add(metric, figure.name, figure.value);
        }
    }
    bool const micros = text.starts_with("sockperf:"),
               millis = text.find("(OK=") != std::string_view::npos ||
                        text.find("vusers.") != std::string_view::npos; // Gatling, artillery
    if (micros || millis) { report.assume(*time_unit(micros ? "us" : "ms")); }
    return report;
}

} // namespace

bool looks_like_labelled_report(std::string_view head) {
    constexpr std::size_t looked_at = std::size_t{64} << 10;
    bool const json = trimmed_line(head.substr(0, 8)).starts_with('{');
    return !json && read_report(whole_lines(head.substr(0, looked_at)), nullptr).distributions() > 0;
}

void read_labelled_report(HeadSource& source, SampleBuilder& samples) {
    read_report(whole_report(source, samples), &samples).finish(samples);
    samples.note("a list of percentiles: quantiles without their samples");
}

} // namespace headroom::io
