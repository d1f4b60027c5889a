#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/metric_choice.hpp"
#include "latencies/report_lines.hpp"
#include "records/record.hpp"
#include "tables/columns.hpp"

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headroom::io {
namespace {

using nlohmann::json;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

constexpr ColumnRow any_time{.names = "", .measure = CellMeasure::time};

// ---- tables -----------------------------------------------------------------------------------------------------------

/// Lines of a table, those of boxes or of commas, with as many empty ones before as stand before it in the report.
struct TableText {
    std::string text;
    bool ended = false; ///< by a line of figures that are no latencies
};

/// "Output token throughput (per sec): 520.87", and in CSV with a comma.
bool is_rate(std::string_view line) {
    auto const end = line.find_last_of(":,");
    return end != std::string_view::npos && has(line.substr(0, end), "hroughput") &&
           decimal_number(trimmed_line(line.substr(end + 1)));
}

TableText table_in(std::string const& text, bool boxes, SampleBuilder& samples) {
    constexpr std::array<std::string_view, 2> uprights{"\xE2\x94\x83", "\xE2\x94\x82"}; // heavy and light
    TableText table;
    TextLines lines{text};
    for (std::string_view line; lines.next(line);) {
        std::string_view const row = trimmed_line(line);
        bool const upright = row.starts_with(uprights[0]) || row.starts_with(uprights[1]);
        bool const rule = !upright && row.starts_with("\xE2\x94");
        table.ended = table.ended || row == "Metric,Value";
        if (boxes ? upright : !table.ended) { table.text += row; }
        table.text += '\n';
        bool const known = (boxes ? upright || rule : !table.ended) || row.empty() || row == "Metric,Value" ||
                           is_rate(row) || row.ends_with("Metrics");
        if (!known) { samples.leave_out(SampleIssue::unused_line, lines.number(), 1, row); }
    }
    return table;
}

/// States what the cells of a row say under heads such as "avg", "p99" and "max".
void state_row(CsvTable const& table, CsvTable::Record const& row, SampleBuilder& samples) {
    std::vector<int> used{0};
    for (std::size_t i = 1; i < table.header.size(); ++i) {
        bool const mean = table.header[i] == "avg", deviation = table.header[i] == "std";
        auto const share = share_of(table.header[i]);
        if (!mean && !deviation && !share) { continue; }
        used.push_back(static_cast<int>(i));
        CellValue const cell = cell_value(row.cells[i], CellMeasure::nothing);
        if (cell.kind != CellValue::Kind::bare) {
            samples.leave_out(SampleIssue::text, row.line, 1, row.cells[i]);
        } else if (mean) {
            samples.found().stated_mean = samples.unit().base(cell.value);
        } else if (share) {
            state_quantile(samples, *share, samples.unit().base(cell.value), row.line);
        }
    }
    samples.leave_out(unused_columns(table.header, used), false);
}

void read_table(std::string const& text, SampleBuilder& samples) {
    constexpr std::string_view head = " Statistic ";
    if (auto const first = text.find(head); first != std::string::npos && has(text.substr(first + 1), head)) {
        unreadable_error(samples.where(), "a second report in this file", {}, "give each report in a file of its own");
    }
    std::vector<CsvTable::Record> ragged;
    bool const boxes = !text.starts_with("Metric,");
    CsvTable const table = read_csv(table_in(text, boxes, samples).text, samples.where(), {.ragged = &ragged});
    for (auto const& row : ragged) { samples.leave_out(SampleIssue::other_length, row.line); }
    std::vector<std::string> names;
    std::vector<std::pair<CsvTable::Record const*, CellUnit>> rows;
    for (auto const& row : table.records) {
        auto const unit = match_head(row.cells.front(), any_time).unit;
        if (!unit) { continue; }
        names.push_back(row.cells.front());
        rows.emplace_back(&row, *unit);
    }
    std::size_t const chosen = chosen_metric(names, samples);
    auto const& [row, unit] = rows.at(chosen);
    samples.found().column = names.at(chosen);
    samples.set_unit(unit, "cells");
    state_row(table, *row, samples);
    for (auto const& other : table.records) {
        if (&other == row) { continue; }
        samples.leave_out(SampleIssue::other_metric, other.line, 1, other.cells.front());
        for (std::string const& cell : std::span{other.cells}.subspan(1)) {
            CellValue const value = cell_value(cell, CellMeasure::nothing);
            bool const known = value.is_number() || value.kind == CellValue::Kind::empty;
            if (!known) { samples.leave_out(SampleIssue::text, other.line, 1, cell); }
        }
    }
}

// ---- JSON -------------------------------------------------------------------------------------------------------------

/// profile_export_genai_perf.json, and that of AIPerf: an object for each metric, with its unit.
void read_json(std::string const& text, SampleBuilder& samples) {
    auto const whole = parse_report(text, samples);
    ReportKeys report{whole, samples};
    json const& records = whole.is_object() && whole.contains("records") ? report.object(whole, "records") : whole;
    std::vector<std::string> names;
    for (auto const& [name, metric] : records.items()) {
        auto const unit = metric.is_object() ? metric.find("unit") : metric.end();
        if (unit == metric.end() || !unit->is_string()) { continue; }
        report.known(records, name);
        if (time_unit(unit->get<std::string>()) && metric.contains("p99")) { names.push_back(name); }
    }
    std::string const name = names.at(chosen_metric(names, samples));
    json const& metric = report.object(records, name);
    samples.found().column = name;
    samples.set_unit(*time_unit(report.member(metric, "unit").get<std::string>()), "format");
    report.mean(metric, "avg");
    report.quantiles(metric);
    samples.found().stated_count = report.count(metric, "count");
    report.known(metric, "std");
    if (names.size() > 1) { samples.leave_out(SampleIssue::other_metric, 0, names.size() - 1); }
    report.known(whole, "input_config telemetry_stats error_summary was_cancelled start_time end_time");
    report.finish();
}

bool is_object(std::string_view head) { return trimmed_line(head.substr(0, 8)).starts_with('{'); }

} // namespace

bool looks_like_genai_perf(std::string_view head) {
    if (is_object(head)) { return has(head, "\"request_latency\"") && has(head, "\"unit\"") && has(head, "\"p99\""); }
    bool const csv = head.starts_with("Metric,") && has(head.substr(0, head.find('\n')), ",p99");
    return csv ||
           (has(head, " Statistic ") && (has(head, " Metrics\n") || has(head, " Metrics ")) && has(head, " p99 "));
}

void read_genai_perf(HeadSource& source, SampleBuilder& samples) {
    std::string const text = whole_report(source, samples);
    if (is_object(text)) {
        read_json(text, samples);
    } else {
        read_table(text, samples);
    }
    samples.note("a report of genai-perf: quantiles without their samples");
}

} // namespace headroom::io
