#include "records/record.hpp"
#include "tables/scaling_columns.hpp"
#include "tables/scaling_text.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace headroom::io {
namespace {

struct Condition {
    int column = -1;
    std::string value;
};

std::string_view trimmed(std::string_view text) {
    auto const first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) { return {}; }
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

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
        std::string const name{trimmed(part.substr(0, equals))};
        int const column = table.column(name);
        if (column < 0) {
            usage_error("--where", fmt::format("no column {}", headroom::quoted(name)), {},
                        did_you_mean(name, table.header));
        }
        conditions.push_back({column, std::string{trimmed(part.substr(equals + 1))}});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return conditions;
}

bool holds(std::vector<Condition> const& conditions, CsvTable::Record const& record) {
    return std::ranges::all_of(conditions, [&](Condition const& one) {
        return trimmed(record.cells[static_cast<std::size_t>(one.column)]) == one.value;
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

/// Columns of text whose values differ between rows of one count: several series in one table.
void note_series(CsvTable const& table, ScalingColumns const& columns, std::vector<Condition> const& conditions,
                 std::vector<std::string>& notes) {
    for (std::size_t c = 0; c < table.header.size(); ++c) {
        auto const column = static_cast<int>(c);
        if (column == columns.workers || column == columns.value || column == columns.weight) { continue; }
        std::set<std::string> values;
        std::map<std::string, std::string> of_count;
        bool mixed = false;
        for (auto const& record : table.records) {
            if (!holds(conditions, record)) { continue; }
            std::string const& cell = record.cells[c];
            bool const text = cell.find_first_not_of("0123456789.+-eE ") != std::string::npos;
            if (!text || values.size() > 20) { continue; }
            values.insert(cell);
            auto const [seen, first] = of_count.emplace(record.cells[static_cast<std::size_t>(columns.workers)], cell);
            mixed = mixed || (!first && seen->second != cell);
        }
        if (mixed) {
            notes.push_back(
                fmt::format("rows of one worker count differ in {} ({} values): they are fitted as repeats; "
                            "choose with --where '{}={}'",
                            headroom::quoted(table.header[c]), values.size(), table.header[c], *values.begin()));
        }
    }
}

double weight_of(CsvTable::Record const& record, CsvTable const& table, ScalingColumns const& columns,
                 std::string_view where) {
    if (columns.weight < 0) { return 1.0; }
    auto const at = static_cast<std::size_t>(columns.weight);
    CellPlace const place{where, record.line, table.header[at]};
    if (columns.weight_is_error) {
        bool const rate = columns.quantity == ScalingQuantity::throughput;
        ValueCells cells{.quantity = rate ? ScalingQuantity::value : columns.quantity,
                         .header_unit = columns.weight_unit};
        double const error = read_value_cell(record.cells[at], place, cells);
        return 1.0 / (error * error);
    }
    ValueCells cells{.quantity = ScalingQuantity::value};
    return read_value_cell(record.cells[at], place, cells);
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

ScalingTable read_csv_table(std::string_view text, std::string_view where, ScalingTableQuestion const& question) {
    CsvTable const csv = read_csv(text, where);
    ScalingColumns const columns = find_scaling_columns(csv, where, question);
    std::vector<Condition> const conditions = conditions_of(csv, question.where);
    ScalingTable table{.rows = {}, .quantity = columns.quantity};
    auto const workers = static_cast<std::size_t>(columns.workers), value = static_cast<std::size_t>(columns.value);
    ValueCells cells{.quantity = columns.quantity, .header_unit = columns.unit};
    for (auto const& record : csv.records) {
        if (!holds(conditions, record)) { continue; }
        table.rows.push_back(
            {.workers = read_count_cell(record.cells[workers], {where, record.line, csv.header[workers]}),
             .value = read_value_cell(record.cells[value], {where, record.line, csv.header[value]}, cells),
             .weight = weight_of(record, csv, columns, where),
             .line = record.line});
    }
    if (table.rows.empty() && !conditions.empty() && !csv.records.empty()) { refuse_conditions(csv, conditions); }
    table.workers_column = csv.header[workers];
    table.value_column = csv.header[value];
    table.unit = cells.label;
    table.notes = columns.notes;
    if (columns.weight >= 0) { table.weight_column = csv.header[static_cast<std::size_t>(columns.weight)]; }
    for (std::size_t c = 0; c < csv.header.size(); ++c) {
        auto const column = static_cast<int>(c);
        bool const used = column == columns.workers || column == columns.value || column == columns.weight;
        bool const chosen = std::ranges::any_of(conditions, [&](Condition const& one) { return one.column == column; });
        if (!used && !chosen) { table.ignored.push_back(csv.header[c]); }
    }
    note_series(csv, columns, conditions, table.notes);
    if (!table.weight_column.empty() && !table.rows.empty()) { check_weights(table.rows, where, table.weight_column); }
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
