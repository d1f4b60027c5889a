#include "tables/scaling_columns.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/columns.hpp"
#include "tables/head_brackets.hpp"
#include "tables/numbers.hpp"
#include "tables/quotient.hpp"
#include "tables/value_columns.hpp"
#include "tables/worker_columns.hpp"
#include "tables/worker_heads.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

namespace headroom::io {
namespace {

constexpr ColumnRow weight_row{.names = "weight weights repeats repetitions"};
constexpr ColumnRow error_row{.names = "sigma stderr standarderror se std stddev standarddeviation sd",
                              .measure = CellMeasure::time};

std::set<std::string> values_of(CsvTable const& table, int column) {
    std::set<std::string> values;
    for (auto const& record : table.records) { values.insert(record.cells[static_cast<std::size_t>(column)]); }
    return values;
}

void find_weight(CsvTable const& table, ScalingColumns& columns) {
    ColumnMatch const weight = match_column(table.header, weight_row), error = match_column(table.header, error_row);
    auto const taken = [&](int column) {
        return column == columns.workers || std::ranges::find(columns.values, column) != columns.values.end();
    };
    if (weight.found() && !weight.unread && !taken(weight.column)) {
        columns.weight = weight.column;
        return;
    }
    if (!error.found() || error.unread || error.rank >= ColumnMatch::unit_alone || taken(error.column)) { return; }
    columns.weight = error.column;
    columns.weight_is_error = true;
    columns.weight_unit = error.unit.value_or(columns.unit);
}

/// Kind of worker that a text names; -1 where it may be any: "n", "workers".
int kind_of_worker(std::string_view text) {
    constexpr std::array kinds{"gpu device accelerator chip tpu npu hpu card", "node host machine server",
                               "core cpu thread", "socket"};
    for (std::string const& word : words_in(text)) {
        if (names_hardware(word)) { return 0; }
    }
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        for (std::string_view names = kinds.at(kind); !names.empty();) {
            if (find_caseless(text, next_word(names)) != std::string_view::npos) { return static_cast<int>(kind); }
        }
    }
    return -1;
}

/// Refuses rates of one GPU over a count of nodes: nobody says how many of them a node has.
void check_kind_of_worker(CsvTable const& table, std::string_view where, ScalingColumns const& columns) {
    std::string const& head = table.header[static_cast<std::size_t>(columns.values.front())];
    auto const of_one = of_worker(head);
    if (!columns.per_worker || !of_one) { return; }
    int const of_value = kind_of_worker(of_one->worker);
    int const counted = kind_of_worker(table.header[static_cast<std::size_t>(columns.workers)]);
    if (of_value < 0 || counted < 0 || of_value == counted) { return; }
    refuse(head_place(table, where),
           fmt::format("{} is of another worker than {} counts", name_at(table, columns.values.front()),
                       name_at(table, columns.workers)),
           {}, "give the throughput of all, or counts of the same worker");
}

/// The unit of times that a column states for every row.
void find_stated_unit(CsvTable const& table, std::string_view where, ScalingColumns& columns) {
    int const column = unit_column(table.header);
    bool const times = columns.quantity == ScalingQuantity::seconds || columns.quantity == ScalingQuantity::sync;
    if (column < 0 || !times || !columns.unit.name.empty()) { return; }
    auto const at = static_cast<std::size_t>(column);
    std::set<std::string> const units = values_of(table, column);
    auto const unit = units.size() == 1 ? stated_time_unit(*units.begin()) : std::nullopt;
    bool const any =
        std::ranges::any_of(units, [](std::string const& one) { return stated_time_unit(one).has_value(); });
    if (!unit && any) {
        refuse(head_place(table, where), fmt::format("{} differs from row to row", headroom::quoted(table.header[at])),
               one_of({units.begin(), units.end()}), "write all times in one unit");
    }
    if (!unit) { return; }
    columns.unit = *unit;
    columns.unit_stated = column;
}

/// Numbers of a column without a name; empty where a cell is none.
std::vector<double> numbers_of(CsvTable const& table, std::size_t column) {
    std::vector<double> numbers;
    for (auto const& record : table.records) {
        CellValue const cell = cell_value(record.cells[column], CellMeasure::time);
        if (!cell.is_number()) { return {}; }
        numbers.push_back(cell.value);
    }
    return numbers;
}

/// Columns by what they hold: counts are whole and vary, the one column with fractions is the value.
void find_by_content(CsvTable const& table, std::string_view where, ScalingTableQuestion const& question,
                     ScalingColumns& columns) {
    std::vector<int> fractions;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        std::vector<double> const numbers = numbers_of(table, i);
        bool const whole =
            std::ranges::all_of(numbers, [](double one) { return one >= 1.0 && one == std::floor(one); });
        auto const column = static_cast<int>(i);
        bool const varies = values_of(table, column).size() > 1;
        if (numbers.empty()) { continue; }
        if (!whole) { fractions.push_back(column); }
        if (whole && varies && columns.workers < 0) { columns.workers = column; }
    }
    std::string const hint = "say --workers-column 1 --value-column 2 --quantity seconds";
    if (columns.workers < 0 || fractions.size() != 1) {
        refuse(head_place(table, where), "columns without names",
               fmt::format("{} of {} hold fractions", fractions.size(), table.header.size()), hint);
    }
    columns.values = {fractions.front()};
    auto const counts = numbers_of(table, static_cast<std::size_t>(columns.workers));
    auto const values = numbers_of(table, static_cast<std::size_t>(fractions.front()));
    auto const least = std::ranges::min_element(counts) - counts.begin(),
               most = std::ranges::max_element(counts) - counts.begin();
    bool const falls = values[static_cast<std::size_t>(most)] < values[static_cast<std::size_t>(least)];
    if (question.quantity.empty() && !falls) {
        refuse(head_place(table, where), "columns without names", "values that rise may be throughputs or speedups",
               "say --quantity throughput or speedup");
    }
    columns.quantity =
        question.quantity.empty() ? ScalingQuantity::seconds : scaling_quantity(question.quantity, "--quantity");
    columns.notes.push_back(fmt::format(
        "the table has no header: column {} is taken for worker counts, column {} for {}", columns.workers + 1,
        fractions.front() + 1, question.quantity.empty() ? "seconds, as it falls" : question.quantity));
}

/// Refuses a constant count where another column of counts varies, under a name that is not known.
void check_varies(CsvTable const& table, std::string_view where, ScalingColumns const& columns) {
    int const workers = columns.workers;
    if (table.records.size() < 2 || values_of(table, workers).size() > 1) { return; }
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        std::set<std::string> const values = values_of(table, static_cast<int>(i));
        bool const counts = std::ranges::all_of(values, [](std::string const& cell) {
            CellNumber const number = cell_number(cell);
            bool const whole = number.fault == CellNumber::Fault::none && number.rest.empty();
            return whole && number.value >= 1.0 && number.value == std::floor(number.value);
        });
        bool const other = is_value_head(table.header[i]) || counts_repeats(table.header[i]) ||
                           static_cast<int>(i) == columns.weight ||
                           std::ranges::find(columns.values, static_cast<int>(i)) != columns.values.end();
        if (values.size() < 2 || !counts || other) { continue; }
        refuse(head_place(table, where),
               fmt::format("{} is {} in every row", name_at(table, workers), *values_of(table, workers).begin()),
               "the worker counts must vary",
               fmt::format("if they are in {} say --workers-column {}", name_at(table, static_cast<int>(i)),
                           headroom::quoted(table.header[i])));
    }
}

} // namespace

bool states_error(std::string_view head) { return match_head(head, error_row).rank < ColumnMatch::unit_alone; }

ScalingColumns find_scaling_columns(CsvTable const& table, std::string_view where,
                                    ScalingTableQuestion const& question) {
    ScalingColumns columns;
    if (!table.named && question.workers_column.empty() && question.value_column.empty()) {
        find_by_content(table, where, question, columns);
        return columns;
    }
    columns.workers = find_worker_column(table, where, question.workers_column, columns.notes);
    if (question.value_column.empty()) {
        find_value(table, where, question, columns);
    } else {
        find_named_value(table, where, question, columns);
    }
    if (columns.values.front() == columns.workers) {
        refuse("--value-column", "names the column of workers", {}, "name another");
    }
    find_stated_unit(table, where, columns);
    check_kind_of_worker(table, where, columns);
    if (table.named) { find_weight(table, columns); }
    if (question.workers_column.empty()) { check_varies(table, where, columns); }
    return columns;
}

} // namespace headroom::io
