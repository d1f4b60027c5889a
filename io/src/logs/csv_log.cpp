#include "logs/log_columns.hpp"
#include "logs/log_formats.hpp"
#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/failed_rows.hpp"
#include "tables/rows.hpp"

#include "headroom/error.hpp"
#include "headroom/io/csv.hpp"
#include "headroom/network/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headroom::io {

using namespace headroom::network;

namespace {

/// Half a unit of the last printed digit may be this share of a bandwidth that a time is made from.
constexpr double coarsest_rounding = 0.02;

/// Thrown inside this file only: a row that is not used.
struct NotUsed {
    Unused why;
};

/// Ratio of a prefix of 1024 to one of 1000: 1.024 of "KB", its powers of "MB" and "GB"; 1 of other units.
double of_1024(std::string_view unit) {
    constexpr double more = 1.024;
    if (same_caseless(unit, "kb")) { return more; }
    if (same_caseless(unit, "mb")) { return more * more; }
    return same_caseless(unit, "gb") ? more * more * more : 1.0;
}

/// Reading of the sizes of a table.
struct SizeReading {
    bool of_rank = false; ///< by their head they may be the share of one rank
    bool binary = false;  ///< KB, MB and GB are of 1024
};

/// One record of the table.
class Row {
public:
    Row(LogHeader const& header, std::vector<NumberMarks> const& marks, CsvTable::Record const& record,
        SizeReading sizes = {})
        : header_{header}, marks_{marks}, record_{record}, sizes_{sizes} {}

    [[nodiscard]] std::string_view text(LogColumn what) const {
        int const column = header_.at(what).column;
        return column < 0 ? std::string_view{} : trimmed_line(record_.cells[static_cast<std::size_t>(column)]);
    }

    /// Whether the sizes may be the share of one rank, by their head.
    [[nodiscard]] bool has_size_of_rank() const { return sizes_.of_rank; }

    /// The collective that the heads of its values name.
    [[nodiscard]] std::optional<Collective> collective() const { return header_.collective; }

    /// A number in base units; empty when the cell says nothing. `otherwise`: base units in a bare number of a column
    /// whose name gives no unit; 0 where nobody knows them.
    [[nodiscard]] std::optional<PrintedNumber> number(LogColumn what, double otherwise) const {
        using Kind = CellValue::Kind;
        CellValue const value = read(what);
        if (value.kind == Kind::empty || value.kind == Kind::not_a_number) { return std::nullopt; }
        if (!value.is_number()) { throw NotUsed{Unused::unreadable}; }
        if (value.kind == Kind::with_unit) { return PrintedNumber{value.value, value.half_unit}; }
        CellUnit const unit = header_.at(what).unit.value_or(CellUnit{.factor = otherwise});
        if (unit.factor == 0.0) { throw NotUsed{Unused::unitless_time}; }
        return PrintedNumber{unit.base(value.value), unit.base(value.half_unit)};
    }

    /// The unit of the size, of its cell or its head.
    [[nodiscard]] std::string_view unit_of_size() const {
        int const column = header_.at(LogColumn::size).column;
        if (column < 0) { return {}; }
        std::string_view const of_cell =
            cell_number(text(LogColumn::size), marks_[static_cast<std::size_t>(column)]).rest;
        auto const of_head = header_.at(LogColumn::size).unit;
        return of_cell.empty() && of_head ? of_head->name : trimmed_line(of_cell);
    }

    /// Bytes of a message; empty where the row states none.
    [[nodiscard]] std::optional<PrintedNumber> size() const {
        auto const bytes = number(LogColumn::size, 1.0);
        if (!bytes || !sizes_.binary) { return bytes; }
        double const more = of_1024(unit_of_size());
        return PrintedNumber{bytes->value * more, bytes->half_unit * more};
    }

    /// A whole number from 1; 0 when the cell says nothing.
    [[nodiscard]] int count(LogColumn what) const {
        CellValue const value = read(what);
        if (value.kind == CellValue::Kind::empty || value.kind == CellValue::Kind::not_a_number) { return 0; }
        if (!value.is_number() || value.value != std::floor(value.value)) { throw NotUsed{Unused::unreadable}; }
        if (value.value < 1.0 || value.value > most_log_ranks) { throw NotUsed{Unused::too_many_ranks}; }
        return static_cast<int>(value.value);
    }

private:
    [[nodiscard]] CellValue read(LogColumn what) const {
        int const column = header_.at(what).column;
        if (column < 0) { return {.kind = CellValue::Kind::empty}; }
        return cell_value(text(what), measure_of(what), marks_[static_cast<std::size_t>(column)]);
    }

    LogHeader const& header_;
    std::vector<NumberMarks> const& marks_;
    CsvTable::Record const& record_;
    SizeReading sizes_;
};

/// Whether each rank holds the whole vector, so that its bytes are those of a rank, too.
bool is_whole_on_each(Collective collective) {
    return collective == Collective::all_reduce || collective == Collective::broadcast ||
           collective == Collective::reduce || collective == Collective::point_to_point;
}

bool is_missing(std::string_view text) { return says_nothing(text) || same_caseless(text, "nan"); }

Collective collective_of(Row const& row, LogBuilder const& log) {
    if (row.collective()) { return *row.collective(); }
    std::string_view name = row.text(LogColumn::collective);
    if (is_missing(name)) { name = log.question().collective; }
    if (name.empty()) { throw NotUsed{Unused::no_collective}; }
    auto const collective = collective_in(name);
    if (!collective) { throw NotUsed{Unused::other_collective}; }
    return *collective;
}

/// A printed count, or the one asked, or `otherwise`.
int count_of(Row const& row, LogColumn what, int asked, LogBuilder& log) {
    int const stated = row.count(what);
    if (stated > 0 && asked > 0 && stated != asked) {
        log.note(fmt::format("rows that state another count of {} than {} keep theirs",
                             what == LogColumn::ranks ? "ranks" : "nodes", asked));
    }
    return stated > 0 ? stated : asked;
}

/// Time from a bandwidth: factor x bytes / bus bandwidth, or bytes / algorithm bandwidth.
Seconds derived_time(MeasuredCollective const& row, PrintedBandwidths const& printed) {
    double const factor = bus_bandwidth_factor(row.collective, Ranks{row.ranks});
    bool const bus = printed.bus.has_value() && factor > 0.0;
    auto const& rate = bus ? printed.bus : printed.algorithm;
    if (!rate || row.collective == Collective::barrier) { throw NotUsed{Unused::no_time}; }
    if (!(rate->value > 0.0) || rate->half_unit > coarsest_rounding * rate->value) {
        throw NotUsed{Unused::coarse_bandwidth};
    }
    return Seconds{(bus ? factor : 1.0) * row.size.size.base() / (rate->value * 1e9)};
}

/// In GB/s of 10^9 bytes; other units are turned into it.
std::optional<PrintedNumber> bandwidth_of(Row const& row, LogColumn what) {
    auto const rate = row.number(what, 1e9);
    return rate ? std::optional{PrintedNumber{rate->value / 1e9, rate->half_unit / 1e9}} : std::nullopt;
}

bool is_yes(std::string_view cell) {
    return cell == "1" || find_caseless(cell, "true") == 0 || find_caseless(cell, "yes") == 0;
}

/// Refuses a row whose own marks exclude it.
void refuse_marked(Row const& row) {
    if (row.text(LogColumn::consistency).starts_with("suspect")) { throw NotUsed{Unused::marked_suspect}; }
    std::string_view const wrong = row.text(LogColumn::wrong);
    auto const wrongs = printed_number(wrong);
    if (wrongs && wrongs->value != 0.0) { throw NotUsed{Unused::wrong_results}; }
    if (!wrongs && !is_missing(wrong)) { throw NotUsed{Unused::unreadable}; }
}

void take_row(Row const& row, double bare_time, std::size_t line, std::string_view example, LogBuilder& log) {
    bool const other_place =
        !row.text(LogColumn::in_place).empty() && is_yes(row.text(LogColumn::in_place)) != log.question().in_place;
    if (other_place) { return log.note("of rows in place and out of place those that were asked for are taken"); }
    refuse_marked(row);
    MeasuredCollective one;
    one.collective = collective_of(row, log);
    one.ranks = count_of(row, LogColumn::ranks, log.question().ranks, log);
    if (one.ranks == 0) { throw NotUsed{Unused::no_ranks}; }
    one.nodes = count_of(row, LogColumn::nodes, log.question().nodes, log);
    int const per_node = one.nodes == 0 ? row.count(LogColumn::per_node) : 0;
    if (per_node > 0) { one.nodes = (one.ranks + per_node - 1) / per_node; }
    log.assume_one_node(one.nodes == 0, 0);
    if (one.nodes == 0) {
        log.note("where no nodes are stated, one node is assumed; --nodes changes it");
        one.nodes = 1;
    }
    auto const size = row.size();
    if (!size && one.collective != Collective::barrier) { throw NotUsed{Unused::zero_size}; }
    if (row.has_size_of_rank() && !is_whole_on_each(one.collective)) { throw NotUsed{Unused::unknown_size}; }
    one.size = TotalBytes{Bytes{size ? size->value : 0.0}};
    PrintedBandwidths const printed{bandwidth_of(row, LogColumn::algorithm_bandwidth),
                                    bandwidth_of(row, LogColumn::bus_bandwidth)};
    auto const time = row.number(LogColumn::time, bare_time);
    one.time = time ? Seconds{time->value} : derived_time(one, printed);
    if (!time) { log.note("where no time is stated, it is taken from the bandwidth"); }
    one.id = row.text(LogColumn::id);
    one.system = row.text(LogColumn::system);
    one.interconnect = row.text(LogColumn::interconnect);
    one.data_type = row.text(LogColumn::data_type);
    one.algorithm = row.text(LogColumn::algorithm);
    one.protocol = row.text(LogColumn::protocol);
    one.source = row.text(LogColumn::source);
    one.line = line;
    log.add(std::move(one), printed, example);
}

std::string joined(CsvTable::Record const& record) {
    constexpr std::size_t enough = 200;
    std::string line;
    for (std::string const& cell : record.cells) {
        if (line.size() > enough) { break; }
        line += (line.empty() ? "" : ",") + cell;
    }
    return line;
}

/// Seconds in a bare number where a column states one unit of times for all rows; 0 where none does.
double stated_time_base(CsvTable const& table, LogBuilder const& log) {
    int const column = unit_column(table.header);
    if (column < 0 || table.records.empty()) { return 0.0; }
    auto const cell = [&](CsvTable::Record const& record) { return record.cells[static_cast<std::size_t>(column)]; };
    auto const unit = stated_time_unit(cell(table.records.front()));
    if (!unit) { return 0.0; }
    for (CsvTable::Record const& record : table.records) {
        auto const other = stated_time_unit(cell(record));
        if (other && other->name == unit->name) { continue; }
        refuse(fmt::format("{}:{}", log.where(), record.line), fmt::format("in {}", headroom::quoted(cell(record))),
               fmt::format("the rows above are in {}", unit->name), "write all times in one unit");
    }
    return unit->base(1.0);
}

/// Seconds in a bare number of a column of times without a unit: the unit in which the bandwidth of a row is its
/// bytes / time; 0 when no row tells.
double bare_time_unit(CsvTable const& table, LogHeader const& header, std::vector<NumberMarks> const& marks,
                      LogBuilder& log) {
    if (!header.has(LogColumn::time) || header.at(LogColumn::time).unit) { return 0.0; }
    if (double const stated = stated_time_base(table, log); stated > 0.0) { return stated; }
    for (CsvTable::Record const& record : table.records) {
        try {
            Row const row{header, marks, record};
            auto const time = row.number(LogColumn::time, 1.0);
            auto const size = row.number(LogColumn::size, 1.0);
            auto const rate = bandwidth_of(row, LogColumn::algorithm_bandwidth);
            if (!time || !size || !rate || !(rate->value > 0.0) || !(time->value > 0.0)) { continue; }
            for (auto const& [unit, name] : {std::pair{1e-6, "us"}, std::pair{1e-3, "ms"}, std::pair{1.0, "s"}}) {
                double const off = size->value / (time->value * unit) / (rate->value * 1e9);
                if (off < 0.9 || off > 1.1) { continue; }
                log.note(fmt::format("the times are in {}, as the bandwidths show", name));
                return unit;
            }
        } catch (NotUsed const&) { continue; }
    }
    return 0.0;
}

/// Notes that kB and MB were taken as 1000s where all such sizes are powers of two, as those of 1024s would be.
void note_size_units(CsvTable const& table, LogHeader const& header, LogBuilder& log) {
    ColumnMatch const& size = header.at(LogColumn::size);
    std::size_t sizes = 0;
    for (CsvTable::Record const& record : table.records) {
        if (!size.found()) { return; }
        CellNumber const number = cell_number(record.cells[static_cast<std::size_t>(size.column)]);
        auto const unit = number.rest.empty() ? size.unit : unit_named(CellMeasure::size, number.rest);
        if (!unit || (unit->factor != 1e3 && unit->factor != 1e6 && unit->factor != 1e9)) { continue; }
        int power = 0;
        if (number.value < 1.0 || std::frexp(number.value, &power) != 0.5) { return; }
        ++sizes;
    }
    if (sizes < 2) { return; }
    log.note("sizes in kB, MB and GB are taken as 1000s, although all are powers of two: write KiB, MiB and GiB where "
             "they are of 1024");
}

/// Whether KB, MB and GB are of 1024: by the bandwidth of rows that state a time, else where only so each size is the same
/// multiple of the one before, as 512 KB and 1 MB are.
bool sizes_are_binary(CsvTable const& table, LogHeader const& header, std::vector<NumberMarks> const& marks,
                      double bare_time) {
    std::size_t binary = 0, decimal = 0;
    std::vector<double> sizes, units;
    for (CsvTable::Record const& record : table.records) {
        try {
            Row const row{header, marks, record};
            auto const size = row.number(LogColumn::size, 1.0);
            double const more = of_1024(row.unit_of_size());
            if (!size || more == 1.0) { continue; }
            if (sizes.empty() || sizes.back() != size->value) {
                sizes.push_back(size->value);
                units.push_back(more);
            }
            auto const time = row.number(LogColumn::time, bare_time);
            auto const rate = bandwidth_of(row, LogColumn::algorithm_bandwidth);
            if (!time || !rate || !(time->value > 0.0) || !(rate->value > 0.0)) { continue; }
            double const off = rate->value * 1e9 * time->value / size->value;
            double const slack = 0.005 + rate->half_unit / rate->value + time->half_unit / time->value;
            bool const one = std::abs(off / more - 1.0) < slack, other = std::abs(off - 1.0) < slack;
            binary += one && !other ? 1 : 0;
            decimal += other && !one ? 1 : 0;
        } catch (NotUsed const&) { continue; }
    }
    if (binary + decimal > 0) { return binary > decimal; }
    constexpr std::size_t few = 3;
    if (sizes.size() < few || std::ranges::adjacent_find(units, std::ranges::not_equal_to{}) == units.end()) {
        return false;
    }
    auto const steps_even = [&](bool of_binary) {
        double const first = sizes[1] / sizes[0] * (of_binary ? units[1] / units[0] : 1.0);
        for (std::size_t i = 2; i < sizes.size(); ++i) {
            double const step = sizes[i] / sizes[i - 1] * (of_binary ? units[i] / units[i - 1] : 1.0);
            constexpr double rounding = 0.002;
            if (std::abs(step / first - 1.0) > rounding) { return false; }
        }
        return first > 1.0;
    };
    return steps_even(true) && !steps_even(false);
}

/// Whether a row states more than two ranks.
bool has_many_ranks(CsvTable const& table) {
    LogHeader const header = match_log_headers(table.header, false).front();
    int const column = header.at(LogColumn::ranks).column;
    return column >= 0 && std::ranges::any_of(table.records, [&](CsvTable::Record const& record) {
               return decimal_number(record.cells[static_cast<std::size_t>(column)]).value_or(0.0) > 2.0;
           });
}

/// Refuses the sum of several calls, which the head of times names next to their number.
void refuse_sums(CsvTable const& table, std::vector<LogHeader> const& headers, LogBuilder const& log) {
    for (LogHeader const& header : headers) {
        int const time = header.at(LogColumn::time).column, repeats = header.at(LogColumn::repeats).column;
        if (time < 0 || repeats < 0) { continue; }
        std::string const& head = table.header[static_cast<std::size_t>(time)];
        bool const several = std::ranges::any_of(table.records, [&](CsvTable::Record const& record) {
            return decimal_number(record.cells[static_cast<std::size_t>(repeats)]).value_or(1.0) > 1.0;
        });
        if (!several || find_caseless(head, "total") == std::string_view::npos) { continue; }
        refuse(head_place(table, log.where()),
               fmt::format("{} may sum up all {}", headroom::quoted(head), name_at(table, repeats)),
               "the time of one is needed", "divide by them, and name the column time_us");
    }
}

/// The columns of the collective that is asked for where heads name several, else those of each.
std::vector<LogHeader> asked_headers(CsvTable const& table, LogBuilder const& log) {
    bool const pairs = log.question().collective.empty() && log.question().ranks <= 2 && !has_many_ranks(table);
    std::vector<LogHeader> headers = match_log_headers(table.header, log.question().in_place, pairs);
    auto const asked = collective_in(log.question().collective);
    if (!asked || !headers.front().collective) { return headers; }
    std::vector<std::string> known;
    for (LogHeader const& one : headers) { known.emplace_back(name_of(*one.collective)); }
    std::erase_if(headers, [&](LogHeader const& one) { return one.collective != asked; });
    if (headers.empty()) {
        refuse(head_place(table, log.where()), fmt::format("no column of {}", name_of(*asked)),
               listed_columns(table.header), fmt::format("say --collective {}", one_of(known)));
    }
    return headers;
}

} // namespace

bool looks_like_csv_log(std::string_view text) {
    constexpr std::size_t longest_header = 64 * 1024;
    TableHead const head = table_head(text.substr(0, longest_header));
    auto names = head.names();
    if (names.size() < 2 || !head.has_names()) { return false; }
    LogHeader const header = match_log_headers(names, false).front();
    bool const value = header.has(LogColumn::time) || header.has(LogColumn::bus_bandwidth) ||
                       header.has(LogColumn::algorithm_bandwidth);
    std::ranges::sort(names); // the heads of a printed report are not those of a table: they repeat
    return header.has(LogColumn::size) && value && std::ranges::adjacent_find(names) == names.end();
}

ReadLog read_csv_log(std::string_view text, LogBuilder& log) {
    std::vector<CsvTable::Record> ragged;
    CsvTable const table = read_csv(text, log.where(), {.ragged = &ragged});
    std::vector<LogHeader> const headers = asked_headers(table, log);
    for (LogHeader const& header : headers) {
        refuse_unread_heads(table.header, header, head_place(table, log.where()));
    }
    refuse_sums(table, headers, log);
    std::vector<NumberMarks> const marks = number_marks(table);
    std::vector<OutcomeColumn> outcomes = outcome_columns(table.header);
    std::vector<double> bare_times;
    std::vector<bool> binary;
    std::vector<int> used;
    for (LogHeader const& header : headers) {
        bare_times.push_back(bare_time_unit(table, header, marks, log));
        binary.push_back(sizes_are_binary(table, header, marks, bare_times.back()));
        if (binary.back()) {
            log.note("sizes in KB, MB and GB are of 1024, as the rows show");
        } else {
            note_size_units(table, header, log);
        }
        for (ColumnMatch const& match : header.matches) { used.push_back(match.column); }
    }
    std::erase_if(outcomes,
                  [&](OutcomeColumn const& one) { return std::ranges::find(used, one.column) != used.end(); });
    for (OutcomeColumn const& one : outcomes) { used.push_back(one.column); }
    used.push_back(unit_column(table.header));
    auto const of_rank = [&](LogHeader const& header) {
        int const column = header.at(LogColumn::size).column;
        return column >= 0 && is_size_of_rank(table.header[static_cast<std::size_t>(column)]);
    };
    std::size_t last = 1;
    for (CsvTable::Record const& record : table.records) {
        last = std::max(last, record.line);
        std::string const example = joined(record);
        bool const failed = std::ranges::any_of(outcomes, [&](OutcomeColumn const& one) {
            return one.failed(record.cells[static_cast<std::size_t>(one.column)]);
        });
        if (failed) {
            log.leave_out(Unused::failed_run, record.line, example);
            continue;
        }
        for (std::size_t i = 0; i < headers.size(); ++i) {
            try {
                SizeReading const sizes{.of_rank = of_rank(headers[i]), .binary = binary[i]};
                take_row({headers[i], marks, record, sizes}, bare_times[i], record.line, example, log);
            } catch (NotUsed const& reason) { log.leave_out(reason.why, record.line, example); }
        }
    }
    for (CsvTable::Record const& record : ragged) {
        bool const cut = record.line > last && record.cells.size() < table.header.size();
        log.leave_out(cut ? Unused::truncated : Unused::unreadable, record.line, joined(record));
        last = std::max(last, record.line);
    }
    // Many whole tables end so; one that was cut inside its last number looks the same.
    bool const open_end = !text.empty() && text.back() != '\n' && !table.records.empty();
    if (open_end && table.records.back().line == last) {
        log.note("the last line has no end: if the file was cut, its last number is cut too");
    }
    bool const published = table.column("table_id") >= 0 && table.column("busbw_gbps") >= 0;
    if (!published) { log.unused(unused_columns(table.header, used)); }
    return {.format = published ? "published" : "csv", .lines = last};
}

} // namespace headroom::io
