#include "latencies/bucketed_samples.hpp"
#include "latencies/csv_layout.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/report_lines.hpp"
#include "latencies/sample_columns.hpp"
#include "records/record.hpp"
#include "tables/columns.hpp"
#include "tables/rows.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace headroom::io {
namespace {

using TableRecord = CsvTable::Record;

constexpr ColumnRow share_row{.names =
                                  "percentile percentiles quantile quantiles pctl pctile percent pct perc q p cdf ecdf "
                                  "cumulativefraction cumulativeshare cumulativeprobability"};
// No "start" and "end": those of counts over time are no bounds of values.
constexpr ColumnRow upper_row{.names = "le upper upperbound upperedge binend bucketend bucket bin below lessthan",
                              .measure = CellMeasure::time};
constexpr ColumnRow lower_row{.names = "lower lowerbound loweredge binstart bucketstart above ge gt",
                              .measure = CellMeasure::time};
constexpr ColumnRow count_row{.names = "count counts frequency freq occurrences hits multiplicity n samples requests "
                                       "observations cumulativecount cumulative"};

/// A head that has the name of a row, not its unit alone.
ColumnMatch named_column(std::vector<std::string> const& header, ColumnRow const& row) {
    ColumnMatch const match = match_column(header, row);
    return match.rank < ColumnMatch::unit_alone ? match : ColumnMatch{};
}

/// A table in which each row says something of the whole distribution.
struct DistributionColumns {
    ColumnMatch share, upper, lower, count;
    ColumnMatch value; ///< of percentiles, or of counted values
    [[nodiscard]] bool of_percentiles() const { return share.found(); }
};

std::optional<double> number_of(std::string_view cell) {
    CellValue const value = cell_value(cell, CellMeasure::time);
    return value.is_number() ? std::optional{value.value} : std::nullopt;
}

/// Whether the numbers of a column rise from row to row; three rows at least.
bool rises(std::vector<TableRecord> const& rows, int column) {
    double before = -1.0;
    std::size_t numbers = 0;
    for (TableRecord const& row : rows) {
        auto const value = number_of(row.cells.at(static_cast<std::size_t>(column)));
        if (!value) { continue; }
        if (*value <= before) { return false; }
        before = *value;
        ++numbers;
    }
    return numbers >= 3;
}

bool are_numbers(std::vector<TableRecord> const& rows, int column) {
    auto const numbers = std::ranges::count_if(rows, [&](TableRecord const& row) {
        return number_of(row.cells.at(static_cast<std::size_t>(column))).has_value();
    });
    return numbers >= 2 && 2 * static_cast<std::size_t>(numbers) >= rows.size();
}

bool are_shares(std::vector<TableRecord> const& rows, int column) {
    auto const shares = std::ranges::count_if(rows, [&](TableRecord const& row) {
        return share_of(row.cells.at(static_cast<std::size_t>(column))).has_value();
    });
    return shares >= 2 && 2 * static_cast<std::size_t>(shares) >= rows.size();
}

/// Nothing where rows are single samples.
std::optional<DistributionColumns> columns_of(std::vector<std::string> const& header,
                                              std::vector<TableRecord> const& rows) {
    DistributionColumns found{.share = named_column(header, share_row),
                              .upper = named_column(header, upper_row),
                              .lower = named_column(header, lower_row),
                              .count = named_column(header, count_row),
                              .value = {}};
    if (found.share.found() && are_shares(rows, found.share.column)) { return found; }
    found.share = {};
    if (!found.count.found()) { return std::nullopt; }
    if (found.upper.found() && are_numbers(rows, found.upper.column)) { return found; }
    found.upper = {};
    try {
        found.value = value_column(header, "");
    } catch (InputError const&) { return std::nullopt; }
    bool const timed = found.value.found() && time_column(header, found.value.column).found();
    bool const alone = header.size() == 2; // of values over sizes, say, the counts are of repeats
    bool const counted = found.value.found() && !timed && alone && found.value.column != found.count.column &&
                         rises(rows, found.value.column);
    return counted ? std::optional{found} : std::nullopt;
}

/// The rows of a beginning of a table that are as wide as its header.
std::vector<TableRecord> rows_of(TableHead const& head, std::size_t width) {
    std::vector<TableRecord> rows;
    CellRow row;
    for (std::size_t i = head.named ? 1 : 0; i < head.lines.size(); ++i) {
        row.split(head.lines[i], head.dialect);
        if (row.cells().size() == width) { rows.push_back({i, {row.cells().begin(), row.cells().end()}}); }
    }
    return rows;
}

/// Reads such a table.
class DistributionReader {
public:
    DistributionReader(CsvTable const& table, DistributionColumns columns, SampleBuilder& samples)
        : table_{table}, columns_{columns}, samples_{samples}, marks_{number_marks(table)} {
        used_ = {columns.share.column, columns.upper.column, columns.lower.column, columns.count.column};
    }

    void read() {
        std::vector<TableRecord const*> rows = chosen_rows();
        if (columns_.upper.found()) { // the last may be infinite
            std::ranges::stable_sort(rows, {}, [&](TableRecord const* row) {
                return number_of(cell(*row, columns_.upper.column)).value_or(INFINITY);
            });
        }
        choose_value();
        choose_unit(rows);
        columns_.of_percentiles() ? read_percentiles(rows) : read_counts(rows);
        samples_.leave_out(unused_columns(table_.header, used_), false);
    }

private:
    [[nodiscard]] std::string const& cell(TableRecord const& row, int column) const {
        return row.cells.at(static_cast<std::size_t>(column));
    }

    std::vector<TableRecord const*> chosen_rows() {
        std::vector<TableRecord const*> rows;
        for (TableRecord const& row : table_.records) { rows.push_back(&row); }
        for (auto const& [name, wanted] : samples_.question().where) {
            int const column = asked_column(table_.header, true, name, CellMeasure::nothing, samples_.where()).column;
            used_.push_back(column);
            std::erase_if(rows, [&, &value = wanted](TableRecord const* row) { return cell(*row, column) != value; });
        }
        return rows;
    }

    /// The values: asked for, by their name, or the only other numbers.
    void choose_value() {
        if (!samples_.question().column.empty()) {
            columns_.value =
                asked_column(table_.header, true, samples_.question().column, CellMeasure::time, samples_.where());
        } else if (columns_.upper.found()) {
            columns_.value = columns_.upper;
        } else if (!columns_.value.found()) {
            columns_.value = value_column(table_.header, samples_.where());
        }
        std::vector<int> numeric;
        for (int i = 0; i < static_cast<int>(table_.header.size()) && !columns_.value.found(); ++i) {
            bool const other = std::ranges::find(used_, i) == used_.end();
            bool const numbers = std::ranges::any_of(
                table_.records, [&](TableRecord const& row) { return number_of(cell(row, i)).has_value(); });
            if (other && numbers) { numeric.push_back(i); }
        }
        if (numeric.size() == 1) { columns_.value = {.column = numeric.front(), .rank = 0}; }
        if (!columns_.value.found()) {
            refuse_missing_column(table_.header, samples_.where(), "values", "name one: --column NAME");
        }
        used_.push_back(columns_.value.column);
        samples_.found().column = table_.header.at(static_cast<std::size_t>(columns_.value.column));
    }

    void choose_unit(std::vector<TableRecord const*> const& rows) {
        samples_.set_marks(marks_.at(static_cast<std::size_t>(columns_.value.column)));
        if (columns_.value.unit) { return samples_.set_unit(*columns_.value.unit, "header"); }
        std::vector<double> bare;
        for (TableRecord const* row : rows) {
            CellValue const value = cell_value(cell(*row, columns_.value.column), CellMeasure::time, samples_.marks());
            if (value.kind == CellValue::Kind::bare) { bare.push_back(value.value); }
        }
        assume_unit(std::move(bare), samples_, table_.header.at(static_cast<std::size_t>(columns_.value.column)));
    }

    /// Seconds of a cell; infinite where it says so; nothing, and counted, where it is no time.
    std::optional<double> seconds_in(TableRecord const& row, int column) {
        std::string const& text = cell(row, column);
        CellValue const value = cell_value(text, CellMeasure::time, marks_.at(static_cast<std::size_t>(column)));
        if (value.kind == CellValue::Kind::infinite) { return INFINITY; }
        if (!value.is_number()) {
            samples_.leave_out(value.kind == CellValue::Kind::empty ? SampleIssue::empty : SampleIssue::text, row.line,
                               1, text);
            return std::nullopt;
        }
        return value.kind == CellValue::Kind::bare ? samples_.unit().base(value.value) : value.value;
    }

    void read_percentiles(std::vector<TableRecord const*> const& rows) {
        bool const fractions = std::ranges::all_of(rows, [&](TableRecord const* row) {
            return number_of(cell(*row, columns_.share.column)).value_or(1.0) <= 1.0;
        });
        for (TableRecord const* row : rows) {
            std::string const& label = cell(*row, columns_.share.column);
            auto share = share_of(label);
            if (share && fractions && number_of(label)) { share = *number_of(label); }
            if (!share) {
                samples_.leave_out(SampleIssue::unused_line, row->line, 1, label);
                continue;
            }
            auto const seconds = seconds_in(*row, columns_.value.column);
            bool const is_new = !seconds || state_quantile(samples_, *share, seconds, row->line);
            if (!is_new) { samples_.leave_out(SampleIssue::repeated_line, row->line, 1, label); }
        }
        samples_.note("a table of percentiles: quantiles without their samples");
    }

    /// Counts of the rows; those of a cumulative column as the growth from row to row.
    std::vector<std::uint64_t> counts_of(std::vector<TableRecord const*> const& rows) {
        std::vector<std::uint64_t> counts;
        constexpr double most = 1e18;
        for (TableRecord const* row : rows) {
            std::string const& text = cell(*row, columns_.count.column);
            auto const count = decimal_number(text);
            bool const good = count && *count >= 0.0 && *count <= most && *count == std::floor(*count);
            if (!good) { samples_.leave_out(SampleIssue::text, row->line, 1, text); }
            counts.push_back(good ? static_cast<std::uint64_t>(*count) : 0);
        }
        std::string_view const name = table_.header.at(static_cast<std::size_t>(columns_.count.column));
        bool const says_so =
            find_caseless(name, "cumul") != std::string_view::npos || same_caseless(samples_.found().column, "le");
        if (!says_so || !std::ranges::is_sorted(counts)) { return counts; }
        samples_.note("counts are cumulative: each row counts those before it, too");
        for (std::size_t i = counts.size(); i-- > 1;) { counts[i] -= counts[i - 1]; }
        return counts;
    }

    void read_counts(std::vector<TableRecord const*> const& rows) {
        std::vector<std::uint64_t> const counts = counts_of(rows);
        BucketedSamples buckets;
        double before = 0.0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            auto const end = seconds_in(*rows[i], columns_.value.column);
            if (!end) { continue; }
            auto const start = columns_.lower.found() && columns_.upper.found()
                                   ? seconds_in(*rows[i], columns_.lower.column)
                                   : std::optional{columns_.upper.found() ? before : *end};
            if (std::isinf(*end)) {
                buckets.add_beyond(counts[i]);
            } else if (!start || *end < before || !buckets.add(*start, *end, counts[i])) {
                samples_.leave_out(SampleIssue::text, rows[i]->line, 1, cell(*rows[i], columns_.value.column));
            } else {
                before = *end;
            }
        }
        buckets.finish(samples_);
        samples_.note(columns_.upper.found() ? "a histogram: samples of a bucket are spread over it evenly"
                                             : "each row stands for so many samples of its value");
    }

    CsvTable const& table_;
    DistributionColumns columns_;
    SampleBuilder& samples_;
    std::vector<NumberMarks> marks_;
    std::vector<int> used_;
};

} // namespace

bool looks_like_distribution(std::string_view head) {
    if (!looks_like_csv(head)) { return false; }
    TableHead const table = table_head(whole_lines(head));
    if (!table.has_names()) { return false; }
    auto const names = table.names();
    return columns_of(names, rows_of(table, names.size())).has_value();
}

void read_distribution(HeadSource& source, SampleBuilder& samples) {
    std::string const text = whole_report(source, samples);
    std::vector<TableRecord> ragged;
    CsvTable const table =
        read_csv(text, samples.where(), {.header_required = false, .repeated_names = true, .ragged = &ragged});
    for (TableRecord const& row : ragged) { samples.leave_out(SampleIssue::other_length, row.line); }
    auto const columns = columns_of(table.header, table.records);
    if (!columns) {
        unreadable_error(samples.where(), "no table of percentiles or counts", listed_columns(table.header),
                         "name the column of values: --format-of csv --column NAME");
    }
    DistributionReader{table, *columns, samples}.read();
}

} // namespace headroom::io
