// Nsight Compute's CSV: the page of details has a row a metric, the raw page a row a kernel and a column a metric with
// units in a row of their own. What the program printed stands between the rows.

#include "graphs/graph_draft.hpp"
#include "tables/numbers.hpp"
#include "traces/ncu_metrics.hpp"
#include "traces/trace_builder.hpp"
#include "traces/trace_formats.hpp"
#include "traces/trace_text.hpp"

#include "headroom/error.hpp"
#include "headroom/io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace headroom::io {

using namespace headroom::trace;

namespace {

constexpr std::uint64_t most_text = std::uint64_t{1} << 30;
constexpr std::size_t rows_at_once = 2048, most_lines_of_row = 64, most_kernels = 4'000'000, most_ranks = 4096;

/// Number of cells of a row; 0 where quotes do not close where cells end, so that the table's reader does not take the row.
std::size_t cells_of(std::string_view row) {
    std::size_t cells = 1;
    for (std::size_t at = 0; at < row.size(); ++cells) {
        if (row[at] != '"') { // a plain cell
            at = std::min(row.find_first_of(",\"", at), row.size());
            if (at < row.size() && row[at] == '"') { return 0; }
        } else {
            for (++at; at < row.size() && (row[at] != '"' || (at + 1 < row.size() && row[at + 1] == '"')); ++at) {
                at += row[at] == '"' ? 1 : 0;
            }
            if (at >= row.size()) { return 0; }
            ++at;
        }
        if (at == row.size()) { return cells; }
        if (row[at] != ',') { return 0; }
        ++at;
    }
    return cells;
}

bool is_header(std::string_view line) {
    return (line.starts_with("\"ID\",") || line.starts_with("ID,")) &&
           line.find("Kernel Name") != std::string_view::npos;
}

/// One kernel that ran.
struct NcuKernel {
    std::string name;
    std::size_t line = 0;
    std::size_t rank = 0;
    std::int64_t stream = 0;
    NcuMetrics metrics;
};

std::int64_t whole_of(std::string_view text) {
    std::int64_t number = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} ? number : 0;
}

std::size_t hash_of(CsvTable::Record const& record) {
    std::size_t hash = 0;
    for (std::string const& cell : record.cells) { hash = hash * 0x9e3779b97f4a7c15U + std::hash<std::string>{}(cell); }
    return hash;
}

class NcuTable {
public:
    NcuTable(std::string_view text, std::string where) : text_{text}, where_{std::move(where)} {}
    std::vector<RankTrace> read(WholeText const& text);

private:
    template <class Take> void each_record(Take take);
    template <class Take> void give(std::string& rows, std::vector<std::size_t>& lines, Take take);
    void find_header();
    void learn(CsvTable const& table, CsvTable::Record const& record);
    void take(CsvTable const& table, CsvTable::Record const& record, std::size_t line);
    NcuKernel* kernel_of(CsvTable::Record const& record, std::size_t line);
    void take_metric(NcuKernel& kernel, std::string_view metric, std::string_view unit, std::string_view text,
                     std::size_t line);
    void lay_out(std::vector<RankTrace>& traces);
    void issue(std::string_view kind, std::size_t line) {
        count_issue(issues_, kind, fmt::format("{}:{}", where_, line));
    }
    [[nodiscard]] std::string_view cell(CsvTable::Record const& record, int column) const {
        return column < 0 ? std::string_view{} : trimmed(record.cells[static_cast<std::size_t>(column)]);
    }

    std::string_view text_, header_;
    std::string where_;
    std::size_t header_line_ = 0, columns_ = 0;
    int id_ = -1, process_ = -1, kernel_ = -1, device_ = -1, stream_ = -1, metric_ = -1, unit_ = -1, value_ = -1;
    std::vector<std::string> names_, units_; ///< of the raw page's columns
    NumberMarks marks_;
    std::vector<NcuKernel> kernels_;
    std::map<std::pair<std::string, std::string>, std::size_t> kernel_numbers_; ///< by process and ID
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> ranks_;        ///< by process and device
    std::set<std::size_t> rows_;                                                ///< hashes of those that were taken
    std::set<std::string, std::less<>> unused_;                                 ///< metrics
    std::vector<TraceIssue> issues_;
};

void NcuTable::find_header() {
    std::string_view rest = text_;
    for (std::size_t line = 1; !rest.empty(); ++line) {
        std::size_t const end = std::min(rest.find('\n'), rest.size());
        if (is_header(rest.substr(0, end)) && cells_of(trimmed(rest.substr(0, end))) > 0) {
            header_ = trimmed(rest.substr(0, end));
            if (header_.ends_with('\r')) { header_.remove_suffix(1); }
            header_line_ = line;
            text_ = rest.substr(std::min(end + 1, rest.size()));
            return;
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    throw InputError{Fault::unreadable,
                     {where_, "no table of Nsight Compute", "no line begins with \"ID\" and names \"Kernel Name\"",
                      "write it with ncu --csv --page details or --page raw"}};
}

template <class Take> void NcuTable::give(std::string& rows, std::vector<std::size_t>& lines, Take take) {
    if (lines.empty()) { return; }
    std::vector<CsvTable::Record> ragged;
    CsvTable const table = read_csv(fmt::format("{}\n{}", header_, rows), where_, {.sniff = false, .ragged = &ragged});
    bool const aligned = ragged.empty() && table.records.size() == lines.size();
    for (std::size_t i = 0; i < table.records.size(); ++i) {
        take(table, table.records[i], aligned ? lines[i] : lines.front());
    }
    for (std::size_t i = 0; i < ragged.size(); ++i) { issue("row that does not fit the header", lines.front()); }
    rows.clear(), lines.clear();
}

/// Rows begin with a quote or a number, units with a comma; what the profiler and the program say between them does not.
template <class Take> void NcuTable::each_record(Take take) {
    std::string rows;
    std::vector<std::size_t> lines;
    std::string_view rest = text_;
    std::size_t line = header_line_ + 1;
    auto const next_line = [&] {
        std::size_t const end = std::min(rest.find('\n'), rest.size());
        std::string_view text = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
    };
    bool const quoted = header_.front() == '"';
    while (!rest.empty()) {
        std::size_t const first = line++;
        char const* const begin = rest.data();
        std::string_view row = next_line();
        bool const is_row = row.find_first_of(quoted ? "\"" : "0123456789,") == 0;
        if (!is_row) {
            if (!row.empty() && !row.starts_with("==")) { issue("line that is no row", first); }
            continue;
        }
        for (std::size_t more = 0; std::ranges::count(row, '"') % 2 != 0 && !rest.empty() && more < most_lines_of_row;
             ++more) {
            auto const next = next_line(); // a cell with a line break inside
            ++line;
            row = {begin, static_cast<std::size_t>(next.data() + next.size() - begin)};
        }
        std::size_t const cells = row.find('\0') == std::string_view::npos ? cells_of(row) : 0;
        if (cells == 0) {
            issue("row with an open quote", first);
            continue;
        }
        rows.append(row);
        // Rules have columns behind the value, and rows of metrics may end before those.
        bool const without_rule = value_ >= 0 && cells > static_cast<std::size_t>(value_) && cells < columns_;
        rows.append(without_rule ? columns_ - cells : 0, ',').append("\n");
        lines.push_back(first);
        if (lines.size() == rows_at_once) { give(rows, lines, take); }
    }
    give(rows, lines, take);
}

/// Learns the spelling of numbers from those that can be read in one way only.
void NcuTable::learn(CsvTable const& table, CsvTable::Record const& record) {
    if (value_ >= 0) { return marks_.learn(cell(record, value_)); }
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        if (table.header[i].find("__") != std::string::npos) { marks_.learn(trimmed(record.cells[i])); }
    }
}

NcuKernel* NcuTable::kernel_of(CsvTable::Record const& record, std::size_t line) {
    std::pair<std::string, std::string> key{cell(record, process_), cell(record, id_)};
    auto const known = kernel_numbers_.find(key);
    if (known != kernel_numbers_.end()) { return &kernels_[known->second]; }
    std::pair<std::int64_t, std::int64_t> const rank{whole_of(key.first), whole_of(cell(record, device_))};
    if (kernels_.size() >= most_kernels || (ranks_.size() >= most_ranks && !ranks_.contains(rank))) {
        issue("more kernels than are read", line);
        return nullptr;
    }
    NcuKernel kernel;
    kernel.name = plain_name(cell(record, kernel_)), kernel.line = line;
    kernel.rank = ranks_.try_emplace(rank, ranks_.size()).first->second;
    kernel.stream = whole_of(cell(record, stream_));
    kernel_numbers_.emplace(std::move(key), kernels_.size());
    kernels_.push_back(std::move(kernel));
    return &kernels_.back();
}

void NcuTable::take_metric(NcuKernel& kernel, std::string_view metric, std::string_view unit, std::string_view text,
                           std::size_t line) {
    bool const wanted = metric.find("__") != std::string_view::npos || metric == "Duration" ||
                        metric == "Elapsed Cycles" || metric == "SM Frequency" || metric == "Memory Throughput";
    constexpr std::size_t most_unused = 100'000;
    if (!wanted && !metric.empty() && unused_.size() < most_unused && !unused_.contains(metric)) {
        unused_.emplace(metric);
        issue("metric not used", line);
    }
    if (!wanted || text.empty() || text == "n/a" || text == "nan") { return; }
    CellValue const cell = cell_value(text, CellMeasure::nothing, marks_.completed({}));
    auto const value = cell.kind == CellValue::Kind::bare ? std::optional{cell.value} : std::nullopt;
    bool const of_work =
        metric.find("__time") != std::string_view::npos || metric.find("dram__bytes") != std::string_view::npos ||
        metric.find("__sass_thread_inst_executed_op") != std::string_view::npos || metric == "Duration";
    if (!value || *value < 0.0) {
        if (of_work) { issue("not a number", line); }
    } else if (!kernel.metrics.take(metric, unit, *value)) {
        issue("unit that is not known", line);
    }
}

void NcuTable::take(CsvTable const& table, CsvTable::Record const& record, std::size_t line) {
    bool const wide = value_ < 0;
    if (wide && units_.empty() && cell(record, id_).empty()) { // the row of units
        units_ = record.cells;
        return;
    }
    if (cell(record, id_).empty()) { return issue("row without an ID", line); }
    if (cell(record, id_) == "ID") {
        throw InputError{Fault::unreadable,
                         {fmt::format("{}:{}", where_, line), "a second table in this file", "its IDs begin anew",
                          "give each table in a file of its own"}};
    }
    if (!rows_.insert(hash_of(record)).second) { issue("row that stands twice", line); }
    NcuKernel* const kernel = kernel_of(record, line);
    if (kernel == nullptr) { return; }
    if (!wide) { return take_metric(*kernel, cell(record, metric_), cell(record, unit_), cell(record, value_), line); }
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        std::string_view const name = table.header[i];
        if (name.find("__") == std::string_view::npos) { continue; }
        take_metric(*kernel, name, units_.empty() ? std::string_view{} : trimmed(units_[i]), trimmed(record.cells[i]),
                    line);
    }
}

/// Kernels one after the other: the profiler runs each alone, often several times, so when they ran says nothing.
void NcuTable::lay_out(std::vector<RankTrace>& traces) {
    constexpr std::int64_t latest = std::int64_t{1} << 61;
    std::vector<std::int64_t> now(ranks_.size()), device(ranks_.size());
    std::vector<TraceBuilder> builders;
    for (std::size_t i = 0; i < ranks_.size(); ++i) { builders.emplace_back(where_, "ncu"); }
    for (auto const& [key, number] : ranks_) { device[number] = key.second; }
    bool const any =
        std::ranges::any_of(kernels_, [](NcuKernel const& one) { return one.metrics.seconds().has_value(); });
    if (!any) {
        throw InputError{Fault::insufficient,
                         {where_, "no kernel has a duration", "none states seconds, or cycles and the clock",
                          "profile gpu__time_duration.sum"}};
    }
    for (NcuKernel const& kernel : kernels_) {
        TraceBuilder& builder = builders[kernel.rank];
        std::int64_t const begin = now[kernel.rank];
        auto time = nanoseconds(kernel.metrics.seconds().value_or(-1.0), 1e9);
        if (!time || *time > latest - begin) {
            issue("kernel without a duration", kernel.line);
            time = 0;
        }
        auto const kind = names_communication(kernel.name) ? SpanKind::communication : SpanKind::compute;
        auto const lane = builder.lane({true, device[kernel.rank], kernel.stream});
        auto const span = builder.span(kind, builder.name(kernel.name), lane, begin, begin + *time);
        ProfiledKernel const counted{span, kernel.metrics.flops(), kernel.metrics.bytes()};
        if (counted.flops > 0.0 || counted.bytes > 0.0) { builder.counted(counted); }
        if (kernel.metrics.has_unsized_tensors()) {
            issue("tensor instructions of unknown size, not counted", kernel.line);
        }
        now[kernel.rank] += *time;
    }
    for (auto const& [key, number] : ranks_) {
        builders[number].trace().only_sums = true;
        traces.push_back(builders[number].finish());
    }
}

std::vector<RankTrace> NcuTable::read(WholeText const& text) {
    find_header();
    CsvTable const table = read_csv(header_, where_, {.sniff = false});
    columns_ = table.header.size();
    id_ = table.column("ID"), process_ = table.column("Process ID"), kernel_ = table.column("Kernel Name");
    device_ = table.column("Device"), stream_ = table.column("Stream"), metric_ = table.column("Metric Name");
    unit_ = table.column("Metric Unit"), value_ = metric_ < 0 ? -1 : table.column("Metric Value");
    std::uint64_t rows = 0;
    each_record(
        [&](CsvTable const& part, CsvTable::Record const& record, std::size_t) { learn(part, record), ++rows; });
    issues_.clear(); // the second time counts them
    each_record(
        [&](CsvTable const& part, CsvTable::Record const& record, std::size_t line) { take(part, record, line); });
    if (kernels_.empty()) { no_events(where_, "a table without kernels", "no row has an ID"); }
    std::vector<RankTrace> traces;
    lay_out(traces);
    count_issue(issues_, "kernels run one at a time: neither overlap nor idle time is known", where_);
    TraceBuilder whole{where_, "ncu"};
    text.tell(whole);
    RankTrace& first = traces.front();
    first.bytes_read = whole.trace().bytes_read, first.text_bytes = whole.trace().text_bytes, first.events = rows;
    for (auto const& issue : whole.trace().issues) { count_issue(issues_, issue.kind, issue.first_at, issue.count); }
    std::ranges::stable_sort(issues_, {}, &TraceIssue::kind);
    first.issues = std::move(issues_);
    return traces;
}

} // namespace

bool looks_like_ncu(std::string_view head) {
    bool const table =
        head.find("\"Kernel Name\"") != std::string_view::npos || head.find(",Kernel Name,") != std::string_view::npos;
    return table && (head.find("\"ID\",") != std::string_view::npos || head.find("ID,") != std::string_view::npos);
}

std::vector<RankTrace> read_ncu(ByteSource& source, std::string const& where, TraceReading const& reading) {
    WholeText const text{source, std::min(most_text, reading.text_limit)};
    return NcuTable{text.view(), where}.read(text);
}

} // namespace headroom::io
