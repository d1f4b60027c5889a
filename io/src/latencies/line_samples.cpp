// Logs whose lines state a time behind a word that their writer alone puts there.
#include "latencies/latency_formats.hpp"
#include "latencies/report_rows.hpp"
#include "tables/cell_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::io {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Text behind the last `word` in a line, up to the next blank, without quotes; empty where there is none.
std::string_view value_behind(std::string_view line, std::string_view word) {
    auto const at = line.rfind(word);
    if (at == std::string_view::npos) { return {}; }
    std::string_view value = line.substr(at + word.size());
    value = value.substr(0, value.find(' '));
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') { value = value.substr(1, value.size() - 2); }
    return value;
}

// ---- ping ---------------------------------------------------------------------------------------------------------------

constexpr std::string_view ping_time = " time=", ping_mark = " bytes from ";

/// Lines that hold no time: of the summary and of probes that got no answer.
constexpr std::array ping_lines{"PING %*", "--- %*", "rtt min/avg/max/mdev = %*", "round-trip min/avg/max%*"};

bool is_lost(std::string_view line) {
    return has(line, "Unreachable") || has(line, "imeout") || has(line, "timed out") || has(line, "exceeded");
}

// ---- nginx --------------------------------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 2> nginx_times{" rt=", " request_time="};

std::string_view nginx_value(std::string_view line) {
    for (std::string_view const word : nginx_times) {
        if (auto const value = value_behind(line, word); !value.empty()) { return value; }
    }
    return {};
}

/// Status of a request, which stands behind it: 503 of `"GET / HTTP/1.1" 503 19`; 0 where there is none.
double nginx_status(std::string_view line) {
    auto const request = line.find(" HTTP/");
    auto const quote = request == std::string_view::npos ? request : line.find("\" ", request);
    auto const found = quote == std::string_view::npos ? std::nullopt : fits_shape(line.substr(quote + 2), "%c %*");
    return found ? found->number.front() : 0.0;
}

} // namespace

bool looks_like_ping(std::string_view head) {
    return has(head, ping_mark) && has(head, "icmp_seq=") && has(head, ping_time);
}

void read_ping(HeadSource& source, SampleBuilder& samples) {
    samples.set_unit(*time_unit("ms"), "format");
    LineFeed lines{source, samples.where(), samples.stop()};
    std::uint64_t lost = 0, lost_of_summary = 0, lost_at = 0;
    for (std::string_view line; lines.next(line);) {
        line = trimmed_line(line);
        auto const at = has(line, ping_mark) ? line.rfind(ping_time) : std::string_view::npos;
        if (at != std::string_view::npos) {
            std::string_view value = line.substr(at + ping_time.size());
            samples.take_cell(cell_value(value.substr(0, value.find(" (")), CellMeasure::time), {}, lines.number());
        } else if (is_lost(line)) {
            ++lost, lost_at = lines.number();
        } else if (auto const sent = fits_shape(line, "%c packets transmitted, %c %*")) {
            lost_of_summary = static_cast<std::uint64_t>(std::max(0.0, sent->number[0] - sent->number[1]));
            lost_at = lines.number();
        } else if (!line.empty() &&
                   std::ranges::none_of(ping_lines, [&](auto shape) { return fits_shape(line, shape).has_value(); })) {
            samples.leave_out(SampleIssue::unused_line, lines.number(), 1, line);
        }
    }
    lost = std::max(lost, lost_of_summary); // of most lost probes there is no line
    if (lost > 0) { samples.leave_out(SampleIssue::failed, lost_at, lost); }
    samples.found().rows = lines.number();
    samples.note("ping: times of its probes");
    tell_source(source, lines, samples);
}

bool looks_like_nginx(std::string_view head) {
    TextLines lines{whole_lines(head)};
    std::size_t logged = 0, others = 0;
    constexpr std::size_t most = 100;
    for (std::string_view line; lines.next(line) && lines.number() <= most;) {
        bool const request = has(line, " HTTP/") && !nginx_value(line).empty();
        ++(request ? logged : others);
    }
    return logged > others;
}

void read_nginx(HeadSource& source, SampleBuilder& samples) {
    samples.set_unit(*time_unit("s"), "format");
    LineFeed lines{source, samples.where(), samples.stop()};
    for (std::string_view line; lines.next(line);) {
        line = trimmed_line(line);
        std::string_view const value = nginx_value(line);
        constexpr double good = 200.0, bad = 400.0;
        double const status = nginx_status(line);
        if (value.empty()) {
            samples.leave_out(line.empty() ? SampleIssue::empty : SampleIssue::unused_line, lines.number(), 1, line);
        } else if (!samples.keeps_failed() && status > 0.0 && (status < good || status >= bad)) {
            samples.leave_out(SampleIssue::failed, lines.number());
        } else {
            samples.take_cell(cell_value(value, CellMeasure::time), {}, lines.number());
        }
    }
    samples.found().rows = lines.number();
    samples.note("nginx: $request_time, in seconds");
    tell_source(source, lines, samples);
}

} // namespace headroom::io
