#include "logs/log_columns.hpp"
#include "logs/log_formats.hpp"

#include "headroom/comparison.hpp"
#include "headroom/error.hpp"
#include "headroom/io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headroom::io {
namespace {

/// Half a unit of the last printed digit may be this share of a bandwidth that a time is made from.
constexpr double coarsest_rounding = 0.02;

/// Where the header begins: after empty lines and comments.
std::size_t header_begin(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size() && (text[at] == '#' || text[at] == '\n' || text[at] == '\r')) {
        at = std::min(text.find('\n', at), text.size() - 1) + 1;
    }
    return at;
}

/// Comments before the header become empty lines, and tabs or semicolons commas where there are no commas.
std::string plain_table(std::string_view text) {
    std::size_t const begin = header_begin(text);
    std::string copy(static_cast<std::size_t>(std::ranges::count(text.substr(0, begin), '\n')), '\n');
    text.remove_prefix(begin);
    std::string_view const header = text.substr(0, text.find('\n'));
    copy += text;
    if (text.find_first_of(",\"") != std::string_view::npos) { return copy; }
    std::ranges::replace(copy, header.find('\t') != std::string_view::npos ? '\t' : ';', ',');
    return copy;
}

/// The header of the table alone; empty when it cannot be read.
std::vector<std::string> header_of(std::string_view text) {
    constexpr std::size_t longest_header = 64 * 1024;
    text.remove_prefix(header_begin(text));
    std::string_view const line = text.substr(0, text.find('\n'));
    if (line.empty() || line.size() > longest_header) { return {}; }
    try {
        return read_csv(plain_table(line), "header").header;
    } catch (InputError const&) { return {}; }
}

/// Cells that say that nothing was measured.
bool says_nothing(std::string_view cell) {
    for (std::string_view const word : {"", "-", "--", "n/a", "na", "nan", "none", "null"}) {
        if (cell.size() == word.size() && find_caseless(cell, word) == 0) { return true; }
    }
    return false;
}

/// Thrown inside this file only: a row that is not used.
struct NotUsed {
    Unused why;
};

/// One record of the table.
class Row {
public:
    Row(LogHeader const& header, CsvTable::Record const& record) : header_{header}, record_{record} {}

    [[nodiscard]] std::string_view text(LogColumn what) const {
        auto const place = header_.at(what);
        return place.column < 0 ? std::string_view{}
                                : trimmed_line(record_.cells[static_cast<std::size_t>(place.column)]);
    }

    /// A number in base units, of a column with units; empty when the cell says nothing.
    [[nodiscard]] std::optional<PrintedNumber> number(LogColumn what,
                                                      std::optional<double> (*unit_of)(std::string_view),
                                                      double otherwise) const {
        std::string_view const cell = text(what);
        if (says_nothing(cell)) { return std::nullopt; }
        std::string_view rest;
        auto const printed = printed_number(cell, rest);
        if (!printed) { throw NotUsed{Unused::unreadable}; }
        double unit = header_.at(what).unit;
        if (unit == 0.0) { unit = otherwise; }
        if (!rest.empty()) {
            auto const own = unit_of(rest);
            if (!own) { throw NotUsed{Unused::unreadable}; }
            unit = *own;
        }
        if (unit == 0.0) { throw NotUsed{Unused::unitless_time}; }
        return PrintedNumber{printed->value * unit, printed->half_unit * unit};
    }

    /// A whole number from 1; 0 when the cell says nothing.
    [[nodiscard]] int count(LogColumn what) const {
        std::string_view const cell = text(what);
        if (says_nothing(cell)) { return 0; }
        auto const printed = printed_number(cell);
        if (!printed || printed->value != std::floor(printed->value)) { throw NotUsed{Unused::unreadable}; }
        if (printed->value < 1.0 || printed->value > most_log_ranks) { throw NotUsed{Unused::too_many_ranks}; }
        return static_cast<int>(printed->value);
    }

private:
    LogHeader const& header_;
    CsvTable::Record const& record_;
};

std::optional<Collective> collective_in(std::string_view name) {
    if (name.ends_with("_perf")) { name.remove_suffix(5); }
    return collective_from(name);
}

Collective collective_of(Row const& row, LogBuilder const& log) {
    std::string_view name = row.text(LogColumn::collective);
    if (says_nothing(name)) { name = log.question().collective; }
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
    auto const rate = row.number(what, rate_unit, 1e9);
    return rate ? std::optional{PrintedNumber{rate->value / 1e9, rate->half_unit / 1e9}} : std::nullopt;
}

bool is_yes(std::string_view cell) {
    return cell == "1" || find_caseless(cell, "true") == 0 || find_caseless(cell, "yes") == 0;
}

/// What the row says of itself that keeps it out.
void refuse_marked(Row const& row) {
    if (row.text(LogColumn::consistency).starts_with("suspect")) { throw NotUsed{Unused::marked_suspect}; }
    std::string_view const wrong = row.text(LogColumn::wrong);
    auto const wrongs = printed_number(wrong);
    if (wrongs && wrongs->value != 0.0) { throw NotUsed{Unused::wrong_results}; }
    if (!wrongs && !says_nothing(wrong)) { throw NotUsed{Unused::unreadable}; }
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
    if (one.nodes == 0) {
        log.note("where no nodes are stated, one node is assumed; --nodes says otherwise");
        one.nodes = 1;
    }
    auto const size = row.number(LogColumn::size, size_unit, 1.0);
    if (!size && one.collective != Collective::barrier) { throw NotUsed{Unused::zero_size}; }
    one.size = TotalBytes{Bytes{size ? size->value : 0.0}};
    PrintedBandwidths const printed{bandwidth_of(row, LogColumn::algorithm_bandwidth),
                                    bandwidth_of(row, LogColumn::bus_bandwidth)};
    auto const time = row.number(LogColumn::time, time_unit, bare_time);
    if (!time) { log.note("where no time is stated, it is taken from the bandwidth"); }
    one.time = time ? Seconds{time->value} : derived_time(one, printed);
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

/// Seconds in a bare number of a column of times without a unit: the unit in which the bandwidth of a row is its
/// bytes / time; 0 when no row tells.
double bare_time_unit(CsvTable const& table, LogHeader const& header, LogBuilder& log) {
    if (!header.has(LogColumn::time) || header.at(LogColumn::time).unit > 0.0) { return 0.0; }
    for (CsvTable::Record const& record : table.records) {
        try {
            Row const row{header, record};
            auto const time = row.number(LogColumn::time, time_unit, 1.0);
            auto const size = row.number(LogColumn::size, size_unit, 1.0);
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

} // namespace

bool looks_like_csv_log(std::string_view text) {
    auto const names = header_of(text);
    if (names.size() < 2) { return false; }
    LogHeader const header = match_log_header(names, false);
    bool const value = header.has(LogColumn::time) || header.has(LogColumn::bus_bandwidth) ||
                       header.has(LogColumn::algorithm_bandwidth);
    return header.has(LogColumn::size) && value;
}

ReadLog read_csv_log(std::string_view text, LogBuilder& log) {
    std::vector<CsvTable::Record> ragged;
    CsvTable const table = read_csv(plain_table(text), log.where(), &ragged);
    LogHeader const header = match_log_header(table.header, log.question().in_place);
    double const bare_time = bare_time_unit(table, header, log);
    std::size_t last = 1;
    for (CsvTable::Record const& record : table.records) {
        last = std::max(last, record.line);
        std::string const example = joined(record);
        try {
            take_row({header, record}, bare_time, record.line, example, log);
        } catch (NotUsed const& reason) { log.leave_out(reason.why, record.line, example); }
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
    return {.format = published ? "published" : "csv", .lines = last};
}

} // namespace headroom::io
