#include "latencies/latency_formats.hpp"
#include "latencies/line_feed.hpp"
#include "records/record.hpp"
#include "tables/cell_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

namespace headroom::io {
namespace {

/// Milliseconds since 1970; empty for all else.
std::optional<std::int64_t> moment_of(std::string_view cell) {
    std::int64_t moment = 0;
    auto const [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), moment);
    constexpr std::int64_t most = 100'000'000'000'000;
    bool const whole = error == std::errc{} && stop == cell.data() + cell.size() && moment >= 0 && moment < most;
    return whole ? std::optional{moment} : std::nullopt;
}

/// A line of a request: its start, its end and "OK" or "KO" stand in this order, the last behind the name and the groups.
void take_request(std::vector<std::string_view> const& cells, std::uint64_t line, SampleBuilder& samples) {
    std::size_t outcome = cells.size();
    for (std::size_t i = 3; i < cells.size(); ++i) {
        bool const is_outcome = cells[i] == "OK" || cells[i] == "KO";
        if (is_outcome && moment_of(cells[i - 1]) && moment_of(cells[i - 2])) { outcome = i; }
    }
    if (outcome == cells.size()) { return samples.leave_out(SampleIssue::no_column, line); }
    if (cells[outcome] == "KO" && !samples.question().keep_failed) {
        return samples.leave_out(SampleIssue::failed, line);
    }
    std::int64_t const start = *moment_of(cells[outcome - 2]), end = *moment_of(cells[outcome - 1]);
    constexpr double milli = 1e3;
    constexpr std::int64_t nanoseconds = 1'000'000;
    samples.take(static_cast<double>(end - start) / milli, start * nanoseconds, line);
}

/// A line of a run, a user, a group of requests, an assertion or an error of the script.
bool is_other_record(std::string_view line) {
    constexpr std::array<std::string_view, 5> kinds{"RUN\t", "USER\t", "GROUP\t", "ASSERTION\t", "ERROR\t"};
    return trimmed_line(line).empty() ||
           std::ranges::any_of(kinds, [&](std::string_view kind) { return line.starts_with(kind); });
}

} // namespace

bool looks_like_gatling_log(std::string_view head) {
    if (head.starts_with(byte_order_mark)) { head.remove_prefix(byte_order_mark.size()); }
    bool const known = head.starts_with("RUN\t") || head.starts_with("REQUEST\t");
    return known && (head.starts_with("REQUEST\t") || head.find("\nREQUEST\t") != std::string_view::npos ||
                     head.find("\nUSER\t") != std::string_view::npos);
}

void read_gatling_log(HeadSource& source, SampleBuilder& samples) {
    if (!samples.question().column.empty() || !samples.question().where.empty()) {
        refuse(samples.where(), "a log of Gatling has no named columns", "its requests are read from start to end",
               "leave out --column and --where");
    }
    samples.set_unit(*time_unit("ms"), "format");
    samples.found().column = "end - start";
    LineFeed lines{source, samples.where(), samples.question().stop};
    std::vector<std::string_view> cells;
    for (std::string_view line; lines.next(line);) {
        if (!line.starts_with("REQUEST\t")) {
            if (!is_other_record(line)) { samples.leave_out(SampleIssue::no_column, lines.number()); }
            continue;
        }
        cells.clear();
        for (std::size_t at = 0; at <= line.size() && cells.size() < 64;) {
            std::size_t const end = std::min(line.find('\t', at), line.size());
            cells.push_back(trimmed_line(line.substr(at, end - at)));
            at = end + 1;
        }
        take_request(cells, lines.number(), samples);
    }
    samples.found().rows = lines.number();
    samples.note("Gatling: times from the start to the end of each request, all requests together");
    tell_source(source, lines, samples);
}

} // namespace headroom::io
