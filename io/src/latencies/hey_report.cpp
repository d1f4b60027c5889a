#include "latencies/latency_formats.hpp"
#include "latencies/report_lines.hpp"
#include "tables/cell_text.hpp"

namespace headroom::io {
namespace {

enum class Part { other, latencies, statuses, errors };

std::optional<Part> part_of(std::string_view line) {
    if (line.starts_with("Latency distribution:")) { return Part::latencies; }
    if (line.starts_with("Status code distribution:")) { return Part::statuses; }
    if (line.starts_with("Error distribution:")) { return Part::errors; }
    if (line.starts_with("Summary:") || line.starts_with("Details") || line.starts_with("Response time histogram:")) {
        return Part::other;
    }
    return std::nullopt;
}

/// "0.0123 secs"
std::optional<double> seconds_of(std::string_view text) { return decimal_number(next_word(text)); }

void read_line(std::string_view line, Part part, std::uint64_t number, SampleBuilder& samples) {
    if (auto const slowest = behind(line, "Slowest:")) {
        state_quantile(samples, 1.0, seconds_of(*slowest), number);
    } else if (auto const fastest = behind(line, "Fastest:")) {
        state_quantile(samples, 0.0, seconds_of(*fastest), number);
    } else if (auto const average = behind(line, "Average:")) {
        samples.found().stated_mean = seconds_of(*average).value_or(0.0);
    } else if (part == Part::latencies) { // "  50%% in 0.0203 secs"
        std::string_view rest = line;
        auto const share = share_of(next_word(rest));
        if (share && next_word(rest) == "in") { state_quantile(samples, *share, seconds_of(rest), number); }
    } else if (part == Part::statuses && line.starts_with('[')) { // "[200]  98 responses"
        std::size_t const close = line.find(']');
        auto const count = leading_count(line.substr(std::min(close, line.size() - 1) + 1));
        samples.found().stated_count += count.value_or(0);
    } else if (part == Part::errors && line.starts_with('[')) { // "[2]  Get ...: timeout"
        if (auto const count = leading_count(line.substr(1)); count && *count > 0) {
            samples.leave_out(RowDirt::failed, number, *count);
        }
    }
}

} // namespace

bool looks_like_hey(std::string_view head) {
    return head.find("Summary:") != std::string_view::npos && head.find("Slowest:") != std::string_view::npos &&
           head.find("Fastest:") != std::string_view::npos;
}

void read_hey(HeadSource& source, SampleBuilder& samples) {
    std::string const text = whole_report(source, samples);
    samples.set_unit(*time_unit("s"), "format");
    TextLines lines{text};
    Part part = Part::other;
    for (std::string_view line; lines.next(line);) {
        part = part_of(line).value_or(part);
        read_line(line, part, lines.number(), samples);
    }
    samples.note("a report of hey: quantiles without their samples (hey -o csv writes them)");
}

} // namespace headroom::io
