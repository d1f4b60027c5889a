#include "latencies/csv_layout.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/report_lines.hpp"
#include "records/record.hpp"
#include "tables/columns.hpp"
#include "tables/rows.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace headroom::io {
namespace {

/// The share that a head names: "50%", "99.9%", "90% Line", "p95", "p99_ms", "95th percentile"; empty for other heads.
std::optional<double> share_of_head(std::string_view head) {
    std::string_view const word = head.substr(0, head.find_first_of(" _([/"));
    if (word.size() < 2) { return std::nullopt; }
    bool const marked = word.back() == '%' || word.ends_with("th") || word.ends_with("%ile") ||
                        (lowered(word[0]) == 'p' && is_decimal_digit(word[1]));
    return marked ? share_of(word.substr(0, word.find("ile"))) : std::nullopt;
}

constexpr ColumnRow count_row{.names = "requestcount samples requests count"};
constexpr ColumnRow failed_row{.names = "failurecount failures failed errors"};
constexpr ColumnRow mean_row{.names = "averageresponsetime average mean avg avglatency averagelatency meanlatency",
                             .measure = CellMeasure::time};
constexpr ColumnRow median_row{.names = "medianresponsetime median medianlatency", .measure = CellMeasure::time};
constexpr ColumnRow least_row{.names = "minresponsetime min minimum minlatency lowest", .measure = CellMeasure::time};
constexpr ColumnRow most_row{.names = "maxresponsetime max maximum maxlatency highest", .measure = CellMeasure::time};

constexpr ColumnRow any_time{.names = "", .measure = CellMeasure::time};

/// Columns of a table of percentiles.
struct PercentileColumns {
    std::vector<std::pair<int, double>> shares;
    int count = -1, failed = -1, mean = -1;
    std::vector<int> used;

    void add(int column, double share) {
        if (column < 0) { return; }
        shares.emplace_back(column, share);
        used.push_back(column);
    }
    explicit PercentileColumns(std::vector<std::string> const& header) {
        for (std::size_t i = 0; i < header.size(); ++i) {
            if (auto const share = share_of_head(header[i])) { add(static_cast<int>(i), *share); }
        }
        auto const column = [&](ColumnRow const& row) {
            ColumnMatch const match = match_column(header, row);
            return match.rank < ColumnMatch::unit_alone ? match.column : -1;
        };
        add(column(median_row), 0.5);
        add(column(least_row), 0.0);
        add(column(most_row), 1.0);
        count = column(count_row);
        failed = column(failed_row);
        mean = column(mean_row);
        used.insert(used.end(), {count, failed, mean});
    }
};

using TableRecord = CsvTable::Record;

bool names_all(TableRecord const& row) {
    return std::ranges::any_of(row.cells, [](std::string const& cell) {
        return same_caseless(cell, "Aggregated") || same_caseless(cell, "TOTAL");
    });
}

/// The first column that holds no numbers: what each row is of.
int names_column(CsvTable const& table) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        bool const text = std::ranges::all_of(table.records, [&](TableRecord const& row) {
            return cell_value(row.cells[i], CellMeasure::time).kind == CellValue::Kind::text;
        });
        if (text) { return static_cast<int>(i); }
    }
    return 0;
}

/// Unit of time that a head states; "min" of a head without a percentile or brackets is the least value, not minutes.
std::optional<CellUnit> unit_of_head(std::string const& head) {
    auto const unit = match_head(head, any_time).unit;
    bool const least = unit && unit->name == "min" && head.find_first_of("0123456789([") == std::string::npos;
    return least ? std::nullopt : unit;
}

/// Unit that a row's name ends in: "Request latency (ms)".
std::optional<CellUnit> unit_in_name(TableRecord const& row) {
    for (std::string const& cell : row.cells) {
        std::string_view const name = trimmed_line(cell);
        if (!name.ends_with(')') && !name.ends_with(']')) { continue; }
        if (auto const unit = match_head(name, any_time).unit) { return unit; }
    }
    return std::nullopt;
}

/// The row that is asked for, that of all, or the only one. The others are counted.
TableRecord const& chosen_row(CsvTable const& table, std::vector<int>& used, SampleBuilder& samples) {
    std::vector<TableRecord const*> rows, all;
    for (TableRecord const& row : table.records) {
        bool const wanted = std::ranges::all_of(samples.question().where, [&](auto const& condition) {
            int const column =
                asked_column(table.header, true, condition.first, CellMeasure::nothing, samples.where()).column;
            used.push_back(column);
            return row.cells.at(static_cast<std::size_t>(column)) == condition.second;
        });
        if (!wanted) { continue; }
        rows.push_back(&row);
        if (names_all(row)) { all.push_back(&row); }
    }
    std::vector<TableRecord const*> const& chosen = all.empty() ? rows : all;
    if (chosen.size() != 1) {
        std::string example = "COLUMN=CELL";
        if (!rows.empty()) {
            auto name = static_cast<std::size_t>(names_column(table));
            auto const alone = [&](std::size_t column) {
                return std::ranges::count_if(rows, [&](TableRecord const* row) {
                           return row->cells[column] == rows.front()->cells[column];
                       }) == 1;
            };
            for (std::size_t i = 0; i < table.header.size() && !alone(name); ++i) {
                if (alone(i)) { name = i; }
            }
            example = headroom::quoted(table.header[name] + "=" + rows.front()->cells[name]);
        }
        refuse(samples.where(), fmt::format("{} rows of percentiles", chosen.size()),
               "those of several rows do not add up", "name one: --where " + example);
    }
    if (table.records.size() > 1) {
        TableRecord const& other =
            table.records.front().line != chosen[0]->line ? table.records.front() : table.records[1];
        count_issue(samples.found().issues, Issue{.kind = "row of percentiles apart from the one that is read",
                                                  .count = table.records.size() - 1,
                                                  .line = other.line});
    }
    return *chosen[0];
}

/// Unit of the values: of the heads, of the writer, or assumed.
void choose_unit(CsvTable const& table, PercentileColumns const& columns, TableRecord const& row,
                 SampleBuilder& samples) {
    for (auto const& [at, share] : columns.shares) {
        auto const unit = unit_of_head(table.header[static_cast<std::size_t>(at)]);
        if (unit) { return samples.set_unit(*unit, "header"); }
    }
    if (auto const unit = unit_in_name(row)) { return samples.set_unit(*unit, "cells"); }
    if (std::ranges::any_of(table.records, [](TableRecord const& one) { return unit_in_name(one).has_value(); })) {
        auto const name = static_cast<std::size_t>(names_column(table));
        refuse(samples.where(), headroom::quoted(row.cells[name]) + " has no unit of time", "other rows have one",
               "choose one of those");
    }
    if (table.column("Inferences/Second") >= 0) {
        return samples.set_unit(*time_unit("us"), "format");
    } // perf_analyzer
    bool const locust = table.column("Request Count") >= 0 && table.column("Median Response Time") >= 0;
    if (locust || table.column("# Samples") >= 0) { return samples.set_unit(*time_unit("ms"), "format"); }
    std::vector<double> numbers;
    for (auto const& [at, share] : columns.shares) {
        CellValue const cell = cell_value(row.cells[static_cast<std::size_t>(at)], CellMeasure::time);
        if (cell.kind == CellValue::Kind::bare) { numbers.push_back(cell.value); }
    }
    assume_unit(std::move(numbers), samples, table.header[static_cast<std::size_t>(columns.shares.front().first)]);
}

/// Seconds of a cell, in the unit of its head where that has one; one that is no time is counted.
std::optional<double> seconds_in(CsvTable const& table, TableRecord const& row, int column, SampleBuilder& samples) {
    if (column < 0) { return std::nullopt; }
    std::string const& text = row.cells[static_cast<std::size_t>(column)];
    CellValue const cell = cell_value(text, CellMeasure::time);
    if (cell.kind == CellValue::Kind::empty) { return std::nullopt; }
    if (!cell.is_number()) {
        samples.leave_out(SampleIssue::text, row.line, 1, text);
        return std::nullopt;
    }
    if (cell.kind != CellValue::Kind::bare) { return cell.value; }
    auto const own = unit_of_head(table.header[static_cast<std::size_t>(column)]);
    return (own && samples.found().unit_from != "--unit" ? *own : samples.unit()).base(cell.value);
}

std::uint64_t count_cell(TableRecord const& row, int column, SampleBuilder& samples) {
    if (column < 0) { return 0; }
    std::string const& text = row.cells[static_cast<std::size_t>(column)];
    auto const count = decimal_number(text);
    constexpr double most = 1e18;
    if (count && *count >= 0.0 && *count <= most) { return static_cast<std::uint64_t>(*count); }
    if (!says_nothing(text)) { samples.leave_out(SampleIssue::text, row.line, 1, text); }
    return 0;
}

} // namespace

bool looks_like_percentile_columns(std::string_view head) {
    if (!looks_like_csv(head)) { return false; }
    TableHead const table = table_head(whole_lines(head));
    if (!table.has_names()) { return false; }
    int shares = 0;
    bool far = false;
    for (std::string const& name : table.names()) {
        auto const share = share_of_head(name);
        shares += share ? 1 : 0;
        far = far || (share && *share >= 0.9);
    }
    return shares >= 2 && far;
}

void read_percentile_columns(HeadSource& source, SampleBuilder& samples) {
    if (!samples.question().column.empty()) { return read_csv_samples(source, samples); }
    std::string const text = whole_report(source, samples);
    std::vector<TableRecord> ragged;
    CsvTable const table = read_csv(text, samples.where(), {.repeated_names = true, .ragged = &ragged});
    for (TableRecord const& row : ragged) { samples.leave_out(SampleIssue::other_length, row.line); }
    PercentileColumns columns{table.header};
    TableRecord const& row = chosen_row(table, columns.used, samples);
    choose_unit(table, columns, row, samples);
    for (auto const& [column, share] : columns.shares) {
        if (auto const seconds = seconds_in(table, row, column, samples)) {
            state_quantile(samples, share, seconds, row.line);
        }
    }
    samples.found().stated_mean = seconds_in(table, row, columns.mean, samples).value_or(0.0);
    samples.found().stated_count = count_cell(row, columns.count, samples);
    if (count_cell(row, columns.failed, samples) > 0) {
        samples.note("failed requests are among the times of the table");
    }
    samples.leave_out(unused_columns(table.header, columns.used), false);
    samples.note("a table of percentiles: quantiles without their samples");
}

} // namespace headroom::io
