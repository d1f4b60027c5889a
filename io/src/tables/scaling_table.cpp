#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/scaling_cells.hpp"
#include "tables/scaling_columns.hpp"
#include "tables/scaling_text.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace headroom::io {
namespace {

struct Condition {
    int column = -1;
    std::string value;
};

/// "framework=OneFlow;config=FP32, batch size = 128": the name ends at the first equals sign.
std::vector<Condition> conditions_of(CsvTable const& table, std::string_view text) {
    std::vector<Condition> conditions;
    while (!text.empty()) {
        auto const end = std::min(text.find(';'), text.size());
        std::string_view const part = text.substr(0, end);
        auto const equals = part.find('=');
        if (equals == std::string_view::npos) {
            usage_error("--where", fmt::format("cannot read {}", headroom::quoted(part)), "it is not column=value",
                        "write it like framework=OneFlow");
        }
        std::string const name{trimmed_line(part.substr(0, equals))};
        int const column = asked_column(table.header, table.named, name, CellMeasure::nothing, "--where").column;
        conditions.push_back({column, std::string{trimmed_line(part.substr(equals + 1))}});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return conditions;
}

bool holds(std::vector<Condition> const& conditions, CsvTable::Record const& record) {
    return std::ranges::all_of(conditions, [&](Condition const& one) {
        return trimmed_line(record.cells[static_cast<std::size_t>(one.column)]) == one.value;
    });
}

/// No row is left: the values that the columns have.
[[noreturn]] void refuse_conditions(CsvTable const& table, std::vector<Condition> const& conditions) {
    for (Condition const& one : conditions) {
        std::vector<std::string> values;
        for (auto const& record : table.records) {
            std::string const& cell = record.cells[static_cast<std::size_t>(one.column)];
            if (std::ranges::find(values, cell) == values.end() && values.size() < 50) { values.push_back(cell); }
        }
        if (std::ranges::find(values, one.value) != values.end()) { continue; }
        std::string const near = did_you_mean(one.value, values);
        usage_error("--where",
                    fmt::format("no row with {} = {}", table.header[static_cast<std::size_t>(one.column)],
                                headroom::quoted(one.value)),
                    {}, near.empty() ? one_of(values) : near);
    }
    usage_error("--where", "no row meets all conditions", {}, "leave one out");
}

/// Leaves the rows that meet `--where`; returns the columns that it names.
std::vector<int> choose_rows(CsvTable& table, std::string const& where) {
    std::vector<Condition> const conditions = conditions_of(table, where);
    bool const any = std::ranges::any_of(table.records, [&](auto const& record) { return holds(conditions, record); });
    if (!any && !table.records.empty()) { refuse_conditions(table, conditions); }
    std::erase_if(table.records, [&](auto const& record) { return !holds(conditions, record); });
    std::vector<int> columns;
    for (Condition const& one : conditions) { columns.push_back(one.column); }
    return columns;
}

/// Columns that count the repeats of one configuration.
constexpr ColumnRow repeat_row{.names = "run runs trial repeat repetition rep iteration iter it seed id index sample"};

/// Whether a cell may be a setting: a text, or a whole number of a few.
bool is_setting(std::string const& cell, bool& text) {
    CellNumber const number = cell_number(cell);
    text = text || (number.fault != CellNumber::Fault::none && !says_nothing(cell));
    return number.fault != CellNumber::Fault::none || (number.rest.empty() && number.value == std::floor(number.value));
}

/// Settings that differ between rows of one count: several series in one table.
void note_series(CsvTable const& table, ScalingColumns const& columns, std::vector<int> const& used,
                 std::vector<std::string>& notes) {
    for (std::size_t c = 0; c < table.header.size(); ++c) {
        bool const is_used = std::ranges::find(used, static_cast<int>(c)) != used.end();
        if (is_used || match_head(table.header[c], repeat_row).rank < ColumnMatch::never) { continue; }
        std::set<std::string> values;
        std::map<std::string, std::string> of_count;
        bool mixed = false, setting = true, text = false;
        for (auto const& record : table.records) {
            std::string const& cell = record.cells[c];
            setting = setting && is_setting(cell, text);
            values.insert(cell);
            auto const [seen, first] = of_count.emplace(record.cells[static_cast<std::size_t>(columns.workers)], cell);
            mixed = mixed || (!first && seen->second != cell);
        }
        if (mixed && setting && 2 * values.size() <= table.records.size()) {
            notes.push_back(
                fmt::format("rows of one worker count differ in {} ({} values): they are fitted as repeats; "
                            "choose with --where '{}={}'",
                            headroom::quoted(table.header[c]), values.size(), table.header[c], *values.begin()));
        }
    }
}

double weight_of(CsvTable::Record const& record, CsvTable const& table, ScalingColumns const& columns,
                 NumberMarks const& marks, std::string_view where) {
    if (columns.weight < 0) { return 1.0; }
    auto const at = static_cast<std::size_t>(columns.weight);
    CellPlace const place{where, record.line, table.header[at]};
    ValueCells cells{.quantity = ScalingQuantity::value, .marks = marks};
    if (!columns.weight_is_error) { return read_value_cell(record.cells[at], place, cells); }
    if (columns.quantity != ScalingQuantity::throughput) { cells.quantity = columns.quantity; }
    cells.header_unit = columns.weight_unit;
    double const error = read_value_cell(record.cells[at], place, cells);
    return 1.0 / (error * error);
}

/// Weights must differ by less than what the digits of a double hold.
void check_weights(std::vector<ScalingRow> const& rows, std::string_view where, std::string_view column) {
    auto const [least, most] = std::ranges::minmax_element(rows, {}, &ScalingRow::weight);
    constexpr double widest = 1e12;
    if (most->weight > widest * least->weight) {
        unreadable_error(CellPlace{where, least->line, column}.text(), "weighs less than a 1e12th of another row",
                         "it would not count", "leave the row out");
    }
}

void check_size(std::vector<ScalingRow> const& rows, std::string_view where) {
    std::set<double> counts;
    for (ScalingRow const& row : rows) { counts.insert(row.workers); }
    if (rows.size() > most_scaling_rows || counts.size() > most_scaling_counts) {
        unreadable_error(where, fmt::format("{} rows of {} worker counts", rows.size(), counts.size()),
                         fmt::format("at most {} of {} are fitted", most_scaling_rows, most_scaling_counts),
                         "fit a part of it");
    }
}

void read_rows(CsvTable const& csv, ScalingColumns const& columns, std::string_view where, ScalingTable& table) {
    std::vector<NumberMarks> const marks = number_marks(csv);
    auto const at = [](int column) { return static_cast<std::size_t>(column); };
    ValueCells cells{.quantity = columns.quantity, .header_unit = columns.unit};
    for (auto const& record : csv.records) {
        std::size_t const workers = at(columns.workers);
        double const count =
            read_count_cell(record.cells[workers], {where, record.line, csv.header[workers]}, marks[workers]);
        double const weight =
            weight_of(record, csv, columns, columns.weight < 0 ? NumberMarks{} : marks[at(columns.weight)], where);
        for (int const column : columns.values) {
            cells.marks = marks[at(column)];
            CellPlace const place{where, record.line, csv.header[at(column)]};
            double const value = read_value_cell(record.cells[at(column)], place, cells);
            table.rows.push_back({.workers = count, .value = value, .weight = weight, .line = record.line});
        }
    }
    table.unit = cells.label;
}

ScalingTable read_csv_table(std::string_view text, std::string_view where, ScalingTableQuestion const& question) {
    CsvTable csv = read_csv(text, where, {.header_required = false, .repeated_names = true});
    std::vector<int> used = choose_rows(csv, question.where);
    ScalingColumns const columns = find_scaling_columns(csv, where, question);
    ScalingTable table{.rows = {}, .quantity = columns.quantity};
    read_rows(csv, columns, where, table);
    auto const name = [&](int column) { return csv.header[static_cast<std::size_t>(column)]; };
    table.workers_column = name(columns.workers);
    for (int const column : columns.values) {
        table.value_column += (table.value_column.empty() ? "" : ", ") + name(column);
    }
    if (columns.weight >= 0) { table.weight_column = name(columns.weight); }
    table.notes = columns.notes;
    used.insert(used.end(), columns.values.begin(), columns.values.end());
    used.insert(used.end(), {columns.workers, columns.weight});
    table.ignored = unused_columns(csv.header, used);
    note_series(csv, columns, used, table.notes);
    if (columns.weight >= 0 && !table.rows.empty()) { check_weights(table.rows, where, table.weight_column); }
    return table;
}

} // namespace

ScalingTable read_scaling_table(std::string_view text, std::string_view where, ScalingTableQuestion const& question) {
    bool const extra_p = is_extra_p_text(text);
    for (auto const& [option, value] : {std::pair{"--region", &question.region}, {"--metric", &question.metric}}) {
        if (!extra_p && !value->empty()) {
            usage_error(option, "belongs to a text of Extra-P", fmt::format("{} is a table", where), "leave it out");
        }
    }
    ScalingTable table = extra_p ? read_extra_p_text(text, where, question) : read_csv_table(text, where, question);
    if (table.rows.empty()) {
        throw InputError{Fault::insufficient,
                         {.where = std::string{where}, .problem = "no measurements", .why = "the table has no rows"}};
    }
    check_size(table.rows, where);
    return table;
}

} // namespace headroom::io
