#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/failed_rows.hpp"
#include "tables/foreign_heads.hpp"
#include "tables/scaling_cells.hpp"
#include "tables/scaling_columns.hpp"
#include "tables/scaling_parts.hpp"
#include "tables/worker_columns.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
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
            refuse("--where", fmt::format("cannot read {}", headroom::quoted(part)), "it is not column=value",
                   "write it like framework=OneFlow");
        }
        std::string const name = in_english(trimmed_line(part.substr(0, equals)));
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
        refuse("--where",
               fmt::format("no row with {} = {}", table.header[static_cast<std::size_t>(one.column)],
                           headroom::quoted(one.value)),
               {}, near.empty() ? one_of(values) : near);
    }
    refuse("--where", "no row meets all conditions", {}, "leave one out");
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

/// Rows by the cells of one column.
class SeriesOfColumn {
public:
    SeriesOfColumn(CsvTable const& table, std::size_t column, std::vector<ScalingRow> const& rows) {
        std::size_t const repeats = rows.size() / table.records.size();
        for (std::size_t i = 0; i < table.records.size(); ++i) {
            std::string const& cell = table.records[i].cells[column];
            CellNumber const number = cell_number(cell);
            bool const text = number.fault != CellNumber::Fault::none || !number.rest.empty();
            fractions_ = fractions_ || (!text && number.value != std::floor(number.value));
            std::vector<double>& values = at_[rows[i * repeats].workers][cell];
            for (std::size_t r = 0; r < repeats; ++r) { values.push_back(rows[i * repeats + r].value); }
            if (counts_[cell].empty()) { seen_.push_back(cell); }
            counts_[cell].insert(rows[i * repeats].workers);
        }
    }

    /// Whether the column holds settings that differ between rows of one count. Settings come again; fractions are settings
    /// where each stands at two counts or more. A second count of workers is a setting in any case.
    [[nodiscard]] bool differs(std::size_t rows, bool counts) const {
        bool const mixed = std::ranges::any_of(at_, [](auto const& one) { return one.second.size() > 1; });
        bool const again =
            !fractions_ || std::ranges::all_of(counts_, [](auto const& c) { return c.second.size() > 1; });
        constexpr std::size_t few = 12;
        std::size_t recurring = 0; // rows whose setting stands at two counts or more
        for (auto const& [count, settings] : at_) {
            for (auto const& [setting, values] : settings) { recurring += counts_.at(setting).size() > 1 ? 1 : 0; }
        }
        return mixed &&
               (counts || (again && (2 * counts_.size() <= rows || (counts_.size() <= few && 2 * recurring >= rows))));
    }
    /// Whether values of one count differ with the setting, by more than `apart` at most counts.
    [[nodiscard]] bool matters() const {
        constexpr double apart = 1.2;
        std::vector<double> ratios;
        for (auto const& [count, settings] : at_) {
            if (settings.size() < 2) { continue; }
            double least = INFINITY, most = 0.0;
            for (auto const& [setting, values] : settings) {
                double sum = 0.0;
                for (double const value : values) { sum += value / static_cast<double>(values.size()); }
                least = std::min(least, sum);
                most = std::max(most, sum);
            }
            ratios.push_back(most / least);
        }
        std::ranges::sort(ratios);
        return !ratios.empty() && ratios[ratios.size() / 2] > apart;
    }
    [[nodiscard]] std::size_t size() const { return seen_.size(); }
    /// The series with the most worker counts, the first of equals.
    [[nodiscard]] std::string const& longest() const {
        return *std::ranges::max_element(seen_, {}, [&](std::string const& cell) { return counts_.at(cell).size(); });
    }

private:
    std::map<double, std::map<std::string, std::vector<double>>> at_;
    std::map<std::string, std::set<double>> counts_;
    std::vector<std::string> seen_; ///< in the order of the file
    bool fractions_ = false;
};

/// Settings that differ between rows of one count: repeats, or several series where the values differ too.
void note_series(CsvTable const& csv, std::vector<int> const& used, ScalingTable& table) {
    for (std::size_t c = 0; c < csv.header.size() && !table.rows.empty(); ++c) {
        bool const is_used = std::ranges::find(used, static_cast<int>(c)) != used.end();
        if (is_used || counts_repeats(csv.header[c])) { continue; }
        SeriesOfColumn const column{csv, c, table.rows};
        if (!column.differs(csv.records.size(), counts_workers(csv.header[c]))) { continue; }
        std::string const condition = fmt::format("{}={}", csv.header[c], column.longest());
        bool const matters = column.matters();
        if (matters) { table.series.push_back({csv.header[c], condition, column.size()}); }
        table.notes.push_back(
            fmt::format("rows of one worker count differ in {} ({} values): {}; choose with --where '{}'",
                        headroom::quoted(csv.header[c]), column.size(),
                        matters ? "they are several series" : "they are fitted as repeats", condition));
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

/// Whether values of one worker are shares: efficiencies, and utilisation of the peak.
bool is_share(CsvTable const& csv, ScalingColumns const& columns) {
    auto const column = static_cast<std::size_t>(columns.values.front());
    return columns.quantity == ScalingQuantity::speedup || std::ranges::any_of(csv.records, [&](auto const& record) {
               return cell_number(record.cells[column]).rest == "%";
           });
}

/// Meaning of a bare share: hundredths where the head says so or a number is beyond every share.
double share_unit(CsvTable const& csv, ScalingColumns const& columns) {
    auto const column = static_cast<std::size_t>(columns.values.front());
    constexpr double beyond = 2.0, percent = 0.01;
    bool const large = std::ranges::any_of(csv.records, [&](auto const& record) {
        CellNumber const number = cell_number(record.cells[column]);
        return number.fault == CellNumber::Fault::none && number.rest != "%" && number.value > beyond;
    });
    return large || csv.header[column].find('%') != std::string::npos ? percent : 1.0;
}

/// Whether a cell is a word: "Total", "Average", nothing.
bool has_no_digit(std::string_view cell) { return std::ranges::none_of(cell, is_decimal_digit); }

/// Whether a cell of values says that there is none: "OOM", "n/a", "-", nothing.
bool is_no_value(std::string_view cell) {
    return says_nothing(cell) || OutcomeColumn{.column = 0, .kind = OutcomeColumn::Kind::state}.failed(cell);
}

/// The reason for which a row is no measurement, and the column that shows it.
struct LeftOutRow {
    std::string_view reason = {};
    std::size_t column = 0;
};

LeftOutRow left_out_row(CsvTable const& csv, ScalingColumns const& columns, std::vector<OutcomeColumn> const& outcomes,
                        CsvTable::Record const& record) {
    auto const workers = static_cast<std::size_t>(columns.workers);
    std::string const& count = record.cells[workers];
    if (count == csv.header[workers] && !count.empty()) { return {}; } // the head of a second table
    if (has_no_digit(count)) { return {"row without a measurement", workers}; }
    bool const no_value = std::ranges::all_of(columns.values, [&](int column) {
        std::string const& cell = record.cells[static_cast<std::size_t>(column)];
        return has_no_digit(cell) && is_no_value(cell);
    });
    if (no_value) { return {"row without a measurement", static_cast<std::size_t>(columns.values.front())}; }
    for (OutcomeColumn const& one : outcomes) {
        auto const column = static_cast<std::size_t>(one.column);
        if (one.failed(record.cells[column])) { return {"row of a failed run", column}; }
    }
    return {};
}

/// Takes out the rows that are no measurements: without a count or a value ("Total", "OOM", "-"), or of a failed run.
/// Where no row would be left all stay, and the first is refused with its cell.
void leave_out_rows(CsvTable& csv, ScalingColumns const& columns, std::vector<int> const& used, ScalingTable& table) {
    std::vector<OutcomeColumn> outcomes = outcome_columns(csv.header);
    std::erase_if(outcomes, [&](OutcomeColumn const& one) {
        bool const value = std::ranges::find(columns.values, one.column) != columns.values.end();
        return value || one.column == columns.workers || std::ranges::find(used, one.column) != used.end();
    });
    std::vector<CsvTable::Record> kept;
    std::vector<Issue> issues;
    for (CsvTable::Record const& record : csv.records) {
        LeftOutRow const why = left_out_row(csv, columns, outcomes, record);
        if (why.reason.empty()) {
            kept.push_back(record);
            continue;
        }
        count_issue(issues, Issue{.kind = std::string{why.reason},
                                  .count = 1,
                                  .line = record.line,
                                  .column = shortened(csv.header[why.column]),
                                  .text = shortened(record.cells[why.column])});
    }
    if (kept.empty() || kept.size() == csv.records.size()) { return; }
    table.notes.push_back(fmt::format("{} of {} rows are left out: they are of failed runs, or hold no measurement",
                                      csv.records.size() - kept.size(), csv.records.size()));
    table.issues = std::move(issues);
    csv.records = std::move(kept);
}

/// 1024 where all counts are powers of two, those before a K among them; else 1000.
double worth_of_kilo(CsvTable const& csv, std::size_t workers, ScalingTable& table) {
    bool plain = false, kilo = false;
    for (auto const& record : csv.records) {
        CellNumber const number = cell_number(record.cells[workers]);
        bool const of_kilo = number.rest == "K" || number.rest == "k";
        double const power = std::log2(number.value);
        bool const known = number.fault == CellNumber::Fault::none && (of_kilo || number.rest.empty());
        if (!known || !(number.value >= 1.0) || power != std::floor(power)) { return 1000.0; }
        kilo = kilo || of_kilo;
        plain = plain || (!of_kilo && number.value > 1.0);
    }
    if (!kilo || !plain) { return 1000.0; }
    table.notes.emplace_back("a K in the worker counts is taken for 1024, as the others are powers of two");
    return 1024.0;
}

/// Notes commas that are taken for marks of thousands, and that nothing in the table shows to be so.
void note_commas(CsvTable const& csv, std::size_t column, NumberMarks const& marks, ScalingTable& table) {
    if (marks.comma != NumberMarks::Meaning::unknown) { return; }
    auto const with = std::ranges::find_if(csv.records, [&](CsvTable::Record const& record) {
        return record.cells[column].find(',') != std::string::npos;
    });
    if (with == csv.records.end()) { return; }
    table.notes.push_back(fmt::format("a comma in {} is taken for a mark of thousands, as in {}",
                                      headroom::quoted(csv.header[column]), headroom::quoted(with->cells[column])));
}

void read_rows(CsvTable const& csv, ScalingColumns const& columns, std::string_view where, ScalingTable& table) {
    double const kilo = worth_of_kilo(csv, static_cast<std::size_t>(columns.workers), table);
    std::vector<NumberMarks> const marks = number_marks(csv);
    auto const at = [](int column) { return static_cast<std::size_t>(column); };
    ValueCells cells{.quantity = columns.quantity, .header_unit = columns.unit};
    if (columns.per_worker && is_share(csv, columns)) { cells.share = share_unit(csv, columns); }
    std::string counted;
    // "1,500" s may be 1500 or 1.5 where no cell shows which
    bool const of_times = columns.quantity == ScalingQuantity::seconds || columns.quantity == ScalingQuantity::sync;
    for (int const column : columns.values) {
        if (!of_times) { note_commas(csv, at(column), marks[at(column)], table); }
    }
    for (auto const& record : csv.records) {
        std::size_t const workers = at(columns.workers);
        double const count = read_count_cell(record.cells[workers], {where, record.line, csv.header[workers]},
                                             marks[workers], counted, kilo);
        double const times = columns.per_worker ? count : 1.0;
        double weight =
            weight_of(record, csv, columns, columns.weight < 0 ? NumberMarks{} : marks[at(columns.weight)], where);
        if (columns.weight_is_error) { weight /= times * times; }
        for (int const column : columns.values) {
            cells.marks = marks[at(column)];
            cells.marks.comma_groups = cells.marks.comma_groups && !of_times;
            cells.hours = counts_hours(csv.header[at(column)]);
            CellPlace const place{where, record.line, csv.header[at(column)]};
            double const value = times * read_value_cell(record.cells[at(column)], place, cells);
            table.rows.push_back({.workers = count, .value = value, .weight = weight, .line = record.line});
        }
    }
    table.unit = cells.label;
    if (cells.spreads > 0) {
        count_issue(table.issues, Issue{.kind = "spread of a value not used",
                                        .count = cells.spreads,
                                        .line = cells.first_spread,
                                        .column = shortened(csv.header[at(columns.values.front())])});
    }
    if (columns.per_worker) {
        table.notes.push_back(fmt::format("{} is of one worker: times the workers it is taken for {}",
                                          headroom::quoted(csv.header[at(columns.values.front())]),
                                          columns.quantity == ScalingQuantity::speedup ? "speedups over one worker"
                                                                                       : "the throughput of all"));
    }
}

/// A table that lies on its side, upright: the first row "workers, 1, 2, 4", the next "time, 100, 55, 30".
void set_upright(CsvTable& table) {
    auto const is_name = [](std::string const& cell) { return cell_number(cell).fault != CellNumber::Fault::none; };
    auto const lies = [&](CsvTable::Record const& record) {
        return is_name(record.cells.front()) &&
               !std::ranges::any_of(record.cells.begin() + 1, record.cells.end(), is_name);
    };
    bool const sideways = !table.named && table.records.size() > 1 && table.header.size() > 2 &&
                          std::ranges::all_of(table.records, lies) &&
                          counts_workers(table.records.front().cells.front());
    if (!sideways) { return; }
    CsvTable upright{
        .header = {}, .records = {}, .dialect = table.dialect, .named = true, .head_line = table.head_line};
    for (auto const& record : table.records) { upright.header.push_back(record.cells.front()); }
    for (std::size_t column = 1; column < table.header.size(); ++column) {
        CsvTable::Record row{.line = table.records.front().line, .cells = {}};
        for (auto const& record : table.records) { row.cells.push_back(record.cells[column]); }
        upright.records.push_back(std::move(row));
    }
    table = std::move(upright);
}

/// Names the one row that lies apart from all others.
void note_row_apart(ScalingTable& table) {
    auto const apart = row_apart(table.rows);
    if (!apart) { return; }
    ScalingRow const& row = table.rows[apart->row];
    table.notes.push_back(fmt::format("line {}, {} workers: its value is {:.2g}x what the other rows suggest", row.line,
                                      row.workers, apart->ratio));
}

/// Rates of steps times the work of a step, where that differs between the worker counts.
void take_rates_of_work(CsvTable const& csv, ScalingColumns const& columns, std::vector<int> const& used,
                        ScalingTable& table) {
    std::string const batch = rates_of_work(csv, used, table.value_column, table.rows, columns.weight_is_error);
    if (batch.empty()) { return; }
    std::erase(table.ignored, batch);
    table.notes.push_back(fmt::format("{} is of steps, and their work differs by {}: the values are their product",
                                      headroom::quoted(table.value_column), headroom::quoted(batch)));
}

ScalingTable read_csv_table(std::string_view text, std::string_view where, ScalingTableQuestion const& question) {
    CsvTable csv = read_csv(text, where, {.header_required = false, .repeated_names = true});
    std::vector<Issue> const marks = take_all_marks(csv, true);
    set_upright(csv);
    auto const translated = translate_heads(csv);
    std::vector<int> used = choose_rows(csv, question.where);
    ScalingTableQuestion asked = question;
    asked.workers_column = in_english(question.workers_column);
    asked.value_column = in_english(question.value_column);
    std::vector<int> const product = question.workers_column.empty() ? multiply_workers(csv) : std::vector<int>{};
    if (!product.empty()) { asked.workers_column = csv.header.back(); }
    ScalingColumns columns = find_scaling_columns(csv, where, asked);
    if (!product.empty()) {
        columns.notes.push_back(fmt::format("workers are the product {}: say --workers-column to change that",
                                            headroom::quoted(csv.header.back())));
        used.insert(used.end(), product.begin(), product.end());
    }
    ScalingTable table{.rows = {}, .quantity = columns.quantity};
    leave_out_rows(csv, columns, used, table);
    table.issues.insert(table.issues.end(), marks.begin(), marks.end());
    read_rows(csv, columns, where, table);
    auto const name = [&](int column) { return csv.header[static_cast<std::size_t>(column)]; };
    table.workers_column = name(columns.workers);
    for (int const column : columns.values) {
        table.value_column += (table.value_column.empty() ? "" : ", ") + name(column);
    }
    if (columns.weight >= 0) { table.weight_column = name(columns.weight); }
    table.notes.insert(table.notes.begin(), columns.notes.begin(), columns.notes.end());
    for (auto const& [written, english] : translated) {
        table.notes.push_back(fmt::format("{} is read as {}", headroom::quoted(written), headroom::quoted(english)));
    }
    used.insert(used.end(), columns.values.begin(), columns.values.end());
    used.insert(used.end(), {columns.workers, columns.weight, columns.unit_stated});
    table.ignored = unused_columns(csv.header, used);
    note_series(csv, used, table);
    if (table.series.empty()) { note_row_apart(table); }
    if (table.quantity == ScalingQuantity::throughput) { take_rates_of_work(csv, columns, used, table); }
    if (table.quantity == ScalingQuantity::seconds) {
        table.work = work_of_steps(csv, used, table.value_column, table.rows);
    }
    if (columns.weight >= 0 && !table.rows.empty()) { check_weights(table.rows, where, table.weight_column); }
    return table;
}

} // namespace

ScalingTable read_scaling_table(std::string_view text, std::string_view where, ScalingTableQuestion const& question) {
    bool const extra_p = is_extra_p_text(text);
    for (auto const& [option, value] : {std::pair{"--region", &question.region}, {"--metric", &question.metric}}) {
        if (!extra_p && !value->empty()) {
            refuse(option, "belongs to a text of Extra-P", fmt::format("{} is a table", where), "leave it out");
        }
    }
    ScalingTable table = extra_p ? read_extra_p_text(text, where, question) : read_csv_table(text, where, question);
    if (table.rows.empty()) { too_little(where, "no measurements", "the table has no rows"); }
    check_size(table.rows, where);
    return table;
}

} // namespace headroom::io
