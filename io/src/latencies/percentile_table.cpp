#include "latencies/percentile_table.hpp"

#include "latencies/latency_formats.hpp"
#include "tables/cell_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace headroom::io {

using namespace headroom::serving;

namespace {

constexpr std::string_view between = " \t,;\"\r";

/// Words of a line, whether blanks or commas part them, and without quotes.
std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    std::size_t at = line.find_first_not_of(between);
    while (at != std::string_view::npos) {
        std::size_t const end = std::min(line.find_first_of(between, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(between, end);
    }
    return words;
}

struct TableRow {
    double value = 0.0, percentile = 0.0;
    std::uint64_t total = 0;
};

std::optional<TableRow> table_row(std::string_view line) {
    auto const words = words_of(line);
    if (words.size() < 3) { return std::nullopt; }
    auto const value = decimal_number(words[0]), percentile = decimal_number(words[1]),
               total = decimal_number(words[2]);
    constexpr double most = 1e18;
    if (!value || !percentile || !total || *total < 0.0 || *total > most) { return std::nullopt; }
    return TableRow{*value, *percentile, static_cast<std::uint64_t>(std::llround(*total))};
}

/// A number behind a word of the lines that follow a table: "#[Mean = 9.99, StdDeviation = 1.2]".
std::optional<double> stated_number(std::string_view line, std::string_view word) {
    std::size_t const at = find_caseless(line, word);
    if (at == std::string_view::npos) { return std::nullopt; }
    std::string_view rest = line.substr(at + word.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t="), rest.size()));
    return decimal_number(rest.substr(0, rest.find_first_of(",] \t")));
}

} // namespace

bool is_percentile_header(std::string_view line) {
    auto const words = words_of(line);
    return words.size() >= 3 && words[0].starts_with("Value") && words[1] == "Percentile" && words[2] == "TotalCount";
}

std::string_view unit_of_percentile_header(std::string_view line) {
    std::size_t const open = line.find("Value("), close = line.find(')');
    bool const there = open != std::string_view::npos && close != std::string_view::npos && close > open;
    return there ? line.substr(open + 6, close - open - 6) : std::string_view{};
}

void read_percentile_rows(TextLines& lines, SampleBuilder& samples) {
    LatencyHistogram values;
    TableRow before;
    double coarsest = 0.0;
    bool first = true;
    std::string_view line;
    std::optional<double> stated;
    while (lines.next(line)) {
        if (line.empty()) { continue; }
        if (line.starts_with("#[")) {
            if (auto const mean = stated_number(line, "Mean")) {
                samples.found().stated_mean = samples.unit().base(*mean);
            }
            if (auto const count = stated_number(line, "Total count")) { stated = count; }
            continue;
        }
        auto const row = table_row(line);
        if (!row) { break; }
        double const seconds = samples.unit().base(row->value);
        constexpr double most = 1e38;
        if (!(seconds >= 0.0 && seconds <= most) || row->total < before.total || row->value < before.value) {
            samples.leave_out(seconds < 0.0 ? RowDirt::negative : RowDirt::text, lines.number());
            continue;
        }
        values.record(seconds, row->total - before.total);
        bool const wide = !first && row->total > before.total && row->value > 0.0;
        if (wide) { coarsest = std::max(coarsest, (row->value - before.value) / row->value); }
        first = false;
        before = *row;
    }
    LatencySamples& found = samples.found();
    found.stated_count = before.total;
    found.histogram_error = coarsest;
    samples.note("a table of percentiles: samples between two rows are taken to be at the upper one");
    if (stated && *stated != static_cast<double>(before.total)) {
        samples.note(fmt::format("the table ends at {} samples, and states {:.0f}", before.total, *stated));
    }
    samples.take(values);
}

bool looks_like_percentiles(std::string_view head) {
    TextLines lines{whole_lines(head)};
    std::string_view line;
    constexpr int looked_at = 40;
    for (int i = 0; i < looked_at && lines.next(line); ++i) {
        if (is_percentile_header(line)) { return true; }
    }
    return false;
}

void read_percentiles(HeadSource& source, SampleBuilder& samples) {
    std::string const text = whole_report(source, samples);
    TextLines lines{text};
    std::string_view line;
    while (lines.next(line) && !is_percentile_header(line)) {}
    if (auto const unit = time_unit(unit_of_percentile_header(line))) {
        samples.set_unit(*unit, "header");
    } else {
        samples.set_unit(*time_unit("ms"), "assumed");
        if (samples.found().unit_from == "assumed") {
            samples.note("values are taken for milliseconds, as tables of percentiles have them by custom (--unit us)");
        }
    }
    samples.found().column = "Value";
    read_percentile_rows(lines, samples);
}

} // namespace headroom::io
