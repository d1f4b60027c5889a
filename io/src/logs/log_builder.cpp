#include "logs/log_builder.hpp"

#include "records/record.hpp"

#include "headroom/error.hpp"
#include "headroom/network/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headroom::io {

using namespace headroom::network;

namespace {

struct Reason {
    Unused why;
    std::string_view kind, hint;
};

constexpr std::array reasons{
    Reason{Unused::wrong_results, "wrong results", "the run was faulty: its times mean nothing"},
    Reason{Unused::not_available, "N/A", ""},
    Reason{Unused::zero_time, "time not above zero", ""},
    Reason{Unused::absurd_time, "absurd time", "times are between 1 ns and 1 day"},
    Reason{Unused::zero_size, "no bytes", ""},
    Reason{Unused::absurd_size, "absurd size", "sizes are between 1 byte and 1 EB"},
    Reason{Unused::one_rank, "one rank", "one rank communicates with nobody"},
    Reason{Unused::uneven_nodes, "ranks not even over the nodes", "give --nodes that share the ranks evenly"},
    Reason{Unused::too_many_ranks, "absurd count of ranks", ""},
    Reason{Unused::no_time, "no time", "a row needs a time or a bandwidth"},
    Reason{Unused::no_ranks, "ranks not stated", "give them with --ranks"},
    Reason{Unused::no_nodes, "nodes not stated, and more ranks than a node has accelerators", "give them with --nodes"},
    Reason{Unused::no_collective, "collective not named", "give it with --collective"},
    Reason{Unused::other_collective, "operation of no known collective", ""},
    Reason{Unused::several_at_once, "several groups at once", "their messages share the network: run one group alone"},
    Reason{Unused::coarse_bandwidth, "bandwidth rounded too far to give a time", ""},
    Reason{Unused::disagreeing, "time and bandwidth disagree", "a column is not what it seems, or digits are lost"},
    Reason{Unused::other_ranks, "bandwidths are of another count of ranks", "give the ranks with --ranks"},
    Reason{Unused::marked_suspect, "marked suspect by its source", ""},
    Reason{Unused::not_a_latency, "test of a stream of messages", "one message's time is not in it"},
    Reason{Unused::unitless_time, "time without a unit", "name the column time_us, time_ms or seconds"},
    Reason{Unused::unknown_size, "size of unknown meaning",
           "whether it is the whole vector or a share is not documented"},
    Reason{Unused::truncated, "truncated", ""},
    Reason{Unused::other_text, "other text between the rows", ""},
    Reason{Unused::commented, "results in a comment", "take the mark # off these lines"},
    Reason{Unused::zero_bytes, "zero bytes in the text", "the file is damaged"},
    Reason{Unused::failed_run, "failed run", "its status says so"},
    Reason{Unused::unreadable, "unreadable", ""},
};
static_assert([] {
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        if (static_cast<std::size_t>(reasons[i].why) != i) { return false; }
    }
    return true;
}());

constexpr double shortest_time = 1e-9, longest_time = 86'400.0, largest_size = 1e18;
/// Tools print three or four digits, and some time the same bytes twice: this is far above both.
constexpr double tolerated = 0.10;
constexpr std::size_t most_notes = 32;

/// Whether a printed bandwidth is bytes / time, within its rounding.
bool agrees(PrintedNumber printed, double expected) {
    double const gap = std::abs(printed.value * 1e9 - expected);
    return gap <= 1.01 * printed.half_unit * 1e9 + tolerated * expected;
}

/// Whether the two bandwidths are of these ranks: their ratio is the factor, to what their rounding allows.
bool fit_together(PrintedBandwidths const& printed, double factor) {
    if (!printed.algorithm || !printed.bus) { return true; }
    constexpr double slack = 1e-3;
    double const gap = std::abs(printed.bus->value - factor * printed.algorithm->value);
    double const rounding = printed.bus->half_unit + factor * printed.algorithm->half_unit;
    return gap <= 1.01 * rounding + slack * printed.bus->value;
}

} // namespace

LogBuilder::LogBuilder(std::string_view where, LogQuestion const& question) : where_{where}, question_{question} {}

void LogBuilder::assume_one_node(bool assumed, int most) {
    one_node_assumed_ = assumed;
    most_of_unknown_ = most;
}

int LogBuilder::most_of_node(std::string const& system) const {
    auto const [known, is_new] = node_sizes_.try_emplace(system, 0);
    if (is_new && question_.node_size) { known->second = question_.node_size(system); }
    return known->second > 0 ? known->second : most_of_unknown_;
}

void LogBuilder::leave_out(Unused why, std::size_t line, std::string_view example) {
    Issue& issue = issues_.at(static_cast<std::size_t>(why));
    if (issue.count++ > 0) { return; }
    issue.kind = reasons.at(static_cast<std::size_t>(why)).kind;
    issue.line = line;
    issue.text = shortened(example);
}

void LogBuilder::note(std::string text) {
    bool const known = std::ranges::find(log_.notes, text) != log_.notes.end();
    if (!known && log_.notes.size() < most_notes) { log_.notes.push_back(std::move(text)); }
}

std::optional<Unused> LogBuilder::refusal(MeasuredCollective const& row, PrintedBandwidths const& printed) const {
    double const seconds = row.time.base(), bytes = row.size.size.base();
    if (!(seconds > 0.0)) { return Unused::zero_time; }
    if (seconds < shortest_time || seconds > longest_time) { return Unused::absurd_time; }
    if (row.collective != Collective::barrier) {
        if (!(bytes > 0.0)) { return Unused::zero_size; }
        if (bytes < 1.0 || bytes > largest_size) { return Unused::absurd_size; }
    }
    if (row.ranks < 1 || row.ranks > most_log_ranks) { return Unused::too_many_ranks; }
    if (row.ranks == 1) { return Unused::one_rank; }
    if (row.nodes < 1 || row.ranks % row.nodes != 0) { return Unused::uneven_nodes; }
    int const most = one_node_assumed_ ? most_of_node(question_.system.empty() ? row.system : question_.system) : 0;
    if (most > 0 && row.ranks > most) { return Unused::no_nodes; }
    double const rate = bytes / seconds;
    double const factor = bus_bandwidth_factor(row.collective, Ranks{row.ranks});
    if (printed.algorithm && !agrees(*printed.algorithm, rate)) { return Unused::disagreeing; }
    if (!fit_together(printed, factor)) { return Unused::other_ranks; }
    if (printed.bus && !agrees(*printed.bus, factor * rate)) { return Unused::disagreeing; }
    return std::nullopt;
}

void LogBuilder::add(MeasuredCollective row, PrintedBandwidths const& printed, std::string_view example) {
    if (auto const why = refusal(row, printed)) { return leave_out(*why, row.line, example); }
    if (log_.rows.size() >= most_log_rows) {
        unreadable_error(where_, "too many rows", fmt::format("at most {} are read", most_log_rows));
    }
    if (printed.bus) { row.bus_bandwidth = BytesPerSecond{printed.bus->value * 1e9}; }
    if (!question_.system.empty()) { row.system = question_.system; }
    row.file = where_;
    log_.rows.push_back(std::move(row));
}

BenchmarkLog LogBuilder::finish(std::string_view format, std::size_t lines) {
    log_.format = format;
    log_.lines = lines;
    std::string why;
    Issue const* most = nullptr;
    for (Issue const& issue : issues_) {
        if (issue.count == 0) { continue; }
        why += fmt::format("{}{} (first in line {}): {}", why.empty() ? "" : "; ", issue.kind, issue.line, issue.count);
        if (most == nullptr || issue.count > most->count) { most = &issue; }
        log_.issues.push_back(issue);
    }
    if (!log_.rows.empty()) { return std::move(log_); }
    std::string hint;
    if (most != nullptr) { hint = reasons.at(static_cast<std::size_t>(most - issues_.data())).hint; }
    too_little(where_, fmt::format("no measurement in this log ({}) can be used", format),
               why.empty() ? "it has no line of results" : why, hint);
}

} // namespace headroom::io
