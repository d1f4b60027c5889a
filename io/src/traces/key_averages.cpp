// The table that PyTorch's key_averages().table() prints, of all versions. A device's kernels stand in rows of their
// own next to the operators that started them, whose "Self CUDA" says the same time again: where there are kernels,
// only they count. Ranges that a user or the framework named have device time, too, and never count.

#include "graphs/graph_draft.hpp"
#include "traces/key_table.hpp"
#include "traces/trace_builder.hpp"
#include "traces/trace_formats.hpp"
#include "traces/trace_text.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace headroom::io {

using namespace headroom::trace;

namespace {

constexpr std::uint64_t most_text = std::uint64_t{64} << 20;

struct TimeUnit {
    std::string_view name;
    std::int64_t nanoseconds;
};
constexpr std::array time_units{
    TimeUnit{"ns", 1},         TimeUnit{"us", 1'000},       TimeUnit{"\xC2\xB5s", 1'000}, TimeUnit{"\xCE\xBCs", 1'000},
    TimeUnit{"ms", 1'000'000}, TimeUnit{"s", 1'000'000'000}};

/// "12.345ms"; empty for anything else.
std::optional<std::int64_t> duration(std::string_view cell) {
    std::size_t const unit = cell.find_first_not_of("0123456789.");
    if (unit == std::string_view::npos) { return std::nullopt; }
    auto const row = std::ranges::find(time_units, trimmed(cell.substr(unit)), &TimeUnit::name);
    return row == time_units.end() ? std::nullopt : scaled_decimal(cell.substr(0, unit), row->nanoseconds);
}

/// Half of the last digit that a cell shows: sums of cells differ from a printed sum by as much a cell.
std::int64_t rounding(std::string_view cell) {
    std::size_t const unit = cell.find_first_not_of("0123456789.");
    auto const row = std::ranges::find(time_units, trimmed(cell.substr(std::min(unit, cell.size()))), &TimeUnit::name);
    if (row == time_units.end()) { return 0; }
    std::int64_t step = row->nanoseconds;
    std::size_t const point = cell.find('.');
    for (std::size_t at = point; at != std::string_view::npos && at + 1 < unit && step > 1; ++at) { step /= 10; }
    return std::max<std::int64_t>(1, step / 2);
}

/// One row as far as it is read.
struct KeyRow {
    std::string name;
    std::string_view shapes;
    std::size_t line = 0;
    std::int64_t calls = 1;
    std::int64_t self_host = 0, host_total = 0, self_device = 0;
    std::int64_t rounding = 0;
    [[nodiscard]] bool on_device() const { return self_host == 0 && host_total == 0 && self_device > 0; }
};

/// Ranges of the host that the profiler shows on the device as well.
bool names_range(std::string_view name) {
    constexpr std::array<std::string_view, 10> beginnings{
        "ProfilerStep", "nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "##", "record_", "Optimizer.", "autograd::"};
    return std::ranges::any_of(beginnings, [&](auto beginning) { return name.starts_with(beginning); });
}

SpanKind device_kind(std::string_view name) {
    constexpr std::array<std::string_view, 6> moves{"Memcpy", "Memset",    "memcpy",
                                                    "memset", "hipMemcpy", "CopyHostToDevice"};
    if (std::ranges::any_of(moves, [&](auto beginning) { return name.starts_with(beginning); })) {
        return SpanKind::memory;
    }
    return names_communication(name) ? SpanKind::communication : SpanKind::compute;
}

SpanKind host_kind(std::string_view name) {
    if (names_synchronization(name)) { return SpanKind::synchronization; }
    if (name.starts_with("cuda") || name.starts_with("hip")) { return SpanKind::launch; }
    if (names_communication(name)) { return SpanKind::communication; }
    return names_range(name) ? SpanKind::annotation : SpanKind::host;
}

class KeyAverages {
public:
    KeyAverages(std::string_view text, std::string const& where)
        : table_{key_table(text)}, where_{where}, builder_{where, "key_averages"} {}

    RankTrace read(WholeText const& text);

private:
    void find_columns();
    void read_row(KeyTable::Row const& row);
    std::optional<std::int64_t> cell_time(KeyTable::Row const& row, int column);
    void leave_out_ranges();
    void leave_unnamed_ranges_out(std::int64_t excess, std::int64_t slack);
    void compare_with_footer(std::vector<std::int64_t> const& ranges, bool kernels);
    void lay_out();
    [[nodiscard]] std::optional<std::int64_t> footer(std::string_view of) const;
    [[nodiscard]] std::string place(std::size_t line) const { return fmt::format("{}:{}", where_, line); }

    KeyTable table_;
    std::string where_;
    TraceBuilder builder_;
    int name_ = -1, calls_ = -1, shapes_ = -1, self_host_ = -1, host_total_ = -1, self_device_ = -1;
    std::string device_word_; ///< "CUDA"
    bool totals_ = false;     ///< no self times of the device
    std::vector<KeyRow> rows_;
};

/// "Self CUDA", "Self XPU": any that is neither the host's nor a share nor memory.
void KeyAverages::find_columns() {
    auto const first_of = [&](auto... names) {
        int found = -1;
        ((found = found < 0 ? table_.column(names) : found), ...);
        return found;
    };
    name_ = table_.column("Name");
    calls_ = first_of("# of Calls", "Number of Calls");
    shapes_ = first_of("Input Shapes", "Input Shape");
    self_host_ = first_of("Self CPU", "Self CPU total");
    host_total_ = first_of("CPU total", "CPU time total");
    for (bool const self : {true, false}) {
        for (std::size_t i = 0; i < table_.header.size() && self_device_ < 0; ++i) {
            std::string_view word = table_.header[i];
            if (word.find('%') != std::string_view::npos || word.find("Mem") != std::string_view::npos ||
                word.find("CPU") != std::string_view::npos || word.find("avg") != std::string_view::npos) {
                continue;
            }
            bool const is_it = self ? word.starts_with("Self ") : word.ends_with(" total");
            if (!is_it) { continue; }
            self_device_ = static_cast<int>(i);
            totals_ = !self;
            if (self) { word.remove_prefix(5); }
            device_word_ = word.substr(0, word.find(' '));
        }
    }
}

std::optional<std::int64_t> KeyAverages::cell_time(KeyTable::Row const& row, int column) {
    if (column < 0) { return 0; }
    std::string_view const cell = row.cells[static_cast<std::size_t>(column)];
    if (cell.empty() || cell == "--" || cell == "-") { return 0; }
    auto const time = duration(cell);
    if (!time) { builder_.issue_at("not a duration", place(row.line)); }
    return time;
}

void KeyAverages::read_row(KeyTable::Row const& row) {
    auto const self_host = cell_time(row, self_host_), host_total = cell_time(row, host_total_),
               self_device = cell_time(row, self_device_);
    if (!self_host || !host_total || !self_device) { return; }
    KeyRow read{.name = plain_name(row.cells[static_cast<std::size_t>(name_)]), .shapes = {}, .line = row.line};
    read.self_host = *self_host, read.host_total = *host_total, read.self_device = *self_device;
    if (self_device_ >= 0) { read.rounding = rounding(row.cells[static_cast<std::size_t>(self_device_)]); }
    if (shapes_ >= 0) { read.shapes = row.cells[static_cast<std::size_t>(shapes_)]; }
    if (calls_ >= 0) {
        auto const calls = scaled_decimal(row.cells[static_cast<std::size_t>(calls_)], 1);
        if (!calls || *calls < 1) {
            builder_.issue_at("not a count", place(row.line));
        } else {
            read.calls = *calls;
        }
    }
    rows_.push_back(std::move(read));
}

std::optional<std::int64_t> KeyAverages::footer(std::string_view of) const {
    std::string const marker = fmt::format("Self {} time total:", of);
    for (std::string_view const line : table_.footer) {
        auto const at = line.find(marker);
        if (at != std::string_view::npos) { return duration(trimmed(line.substr(at + marker.size()))); }
    }
    return std::nullopt;
}

/// Ranges that nobody knows by name make the rows' sum larger than the profiler's own.
void KeyAverages::leave_unnamed_ranges_out(std::int64_t excess, std::int64_t slack) {
    std::ranges::stable_sort(rows_, std::ranges::greater{}, &KeyRow::self_device);
    for (auto row = rows_.begin(); row != rows_.end() && excess > slack;) {
        bool const could_be = row->on_device() && row->self_device <= excess + slack &&
                              row->name.find_first_of("(<") == std::string::npos &&
                              device_kind(row->name) == SpanKind::compute;
        if (could_be) {
            excess -= row->self_device;
            builder_.issue_at("range with device time, left out", place(row->line));
        }
        row = could_be ? rows_.erase(row) : row + 1;
    }
    if (excess > slack) { builder_.issue_at("sum above the one below the table", where_); }
}

/// Whether some of the durations add up to a sum.
bool some_add_up_to(std::vector<std::int64_t> const& durations, std::int64_t sum, std::int64_t slack) {
    constexpr std::size_t most_sums = 4096;
    std::vector<std::int64_t> sums{0};
    for (std::int64_t const duration : durations) {
        for (std::size_t i = 0, known = sums.size(); i < known && sums.size() < most_sums; ++i) {
            if (sums[i] + duration <= sum + slack) { sums.push_back(sums[i] + duration); }
        }
    }
    return std::ranges::any_of(sums, [&](std::int64_t one) { return one >= sum - slack; });
}

/// The profiler's own sum says whether rows were not printed. Some versions count the time of named ranges in it.
void KeyAverages::compare_with_footer(std::vector<std::int64_t> const& ranges, bool kernels) {
    auto const stated = footer(device_word_);
    if (!stated) { return; }
    std::int64_t sum = 0, slack = 1000 + (*stated >> 10);
    for (KeyRow const& row : rows_) { sum += row.self_device, slack += row.rounding; }
    if (kernels) { leave_unnamed_ranges_out(sum - *stated, slack); }
    std::int64_t const missing = *stated - sum;
    if (missing <= slack || some_add_up_to(ranges, missing, slack)) { return; }
    builder_.issue_at("rows that the table does not show",
                      fmt::format("{}: {} us of device time", where_, missing / 1000));
    builder_.trace().work_missing = true;
}

void KeyAverages::leave_out_ranges() {
    bool const kernels =
        std::ranges::any_of(rows_, [](KeyRow const& row) { return row.on_device() && !names_range(row.name); });
    std::vector<std::int64_t> ranges;
    std::erase_if(rows_, [&](KeyRow const& row) {
        bool const range = row.on_device() && names_range(row.name);
        if (range) {
            builder_.issue_at("range with device time, left out", place(row.line));
            ranges.push_back(row.self_device);
        }
        return range || row.self_device == 0 || (kernels && !row.on_device());
    });
    if (!totals_) { compare_with_footer(ranges, kernels); }
}

void KeyAverages::lay_out() {
    bool const device = std::ranges::any_of(rows_, [](KeyRow const& row) { return row.self_device > 0; });
    if (device) {
        leave_out_ranges();
        if (totals_) {
            builder_.issue_at("device time with that of operators inside: no self times in the table", where_);
        }
    }
    auto const lane = builder_.lane({device, 0, 0});
    builder_.name_lane({device, 0, 0}, device ? "all streams, end to end" : "all threads, end to end");
    std::ranges::stable_sort(rows_, {}, &KeyRow::line);
    std::int64_t now = 0;
    for (KeyRow const& row : rows_) {
        std::int64_t const time = device ? row.self_device : row.self_host;
        if (time <= 0) { continue; }
        if (now > (std::int64_t{1} << 61)) { break; }
        SpanKind const kind = device ? device_kind(row.name) : host_kind(row.name);
        auto const span = builder_.span(kind, builder_.name(row.name), lane, now, now + time);
        builder_.trace().calls.push_back(row.calls);
        if (row.shapes.find_first_of("0123456789") != std::string_view::npos) {
            builder_.shape(span, plain_name(row.shapes));
        }
        now += time;
    }
}

RankTrace KeyAverages::read(WholeText const& text) {
    if (table_.header.empty()) {
        throw InputError{Fault::unreadable,
                         {where_, "no table of key_averages()", "no rule of dashes above a header with 'Name'",
                          "paste the table with its first line"}};
    }
    find_columns();
    if (name_ < 0 || (self_host_ < 0 && self_device_ < 0)) {
        throw InputError{Fault::unreadable,
                         {where_, "a table without times", "neither 'Self CPU' nor 'Self CUDA' is a column", {}}};
    }
    for (auto const& row : table_.rows) { read_row(row); }
    for (std::size_t const line : table_.unread) { builder_.issue_at("row that does not fit the header", place(line)); }
    if (table_.cut) {
        builder_.issue_at("table without its end: rows may be missing", where_);
        builder_.trace().work_missing = true;
    }
    if (table_.more) { builder_.issue_at("second table, left out", where_); }
    RankTrace& trace = builder_.trace();
    trace.events = table_.rows.size();
    trace.only_sums = true;
    std::int64_t rank = 0;
    auto const [stop, error] = std::from_chars(table_.rank.data(), table_.rank.data() + table_.rank.size(), rank);
    if (error == std::errc{} && stop == table_.rank.data() + table_.rank.size()) {
        trace.rank = rank, trace.rank_from = "metadata";
    }
    lay_out();
    builder_.issue_at("sums alone: neither overlap nor idle time is known", where_);
    text.tell(builder_);
    if (trace.size() == 0) { no_events(where_, "a table without a time above zero", "no row has any"); }
    return builder_.finish();
}

} // namespace

bool looks_like_key_averages(std::string_view head) {
    auto const first = head.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || head[first] == '{') { return false; }
    bool const calls =
        head.find("# of Calls") != std::string_view::npos || head.find("Number of Calls") != std::string_view::npos;
    return calls && head.find("-----") != std::string_view::npos && head.find("Self CPU") != std::string_view::npos;
}

std::vector<RankTrace> read_key_averages(ByteSource& source, std::string const& where, TraceReading const& reading) {
    WholeText const text{source, std::min(most_text, reading.text_limit)};
    std::vector<RankTrace> traces;
    traces.push_back(KeyAverages{text.view(), where}.read(text));
    return traces;
}

} // namespace headroom::io
