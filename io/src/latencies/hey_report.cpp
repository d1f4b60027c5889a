#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/report_rows.hpp"

namespace headroom::io {
namespace {

enum Part { anywhere, summary, histogram, percentiles, details, statuses, errors };

void answered(ReportReader& report, Captures const& line) {
    report.requests(line.number[1]);
    count_status(report.samples(), line.text[0], static_cast<std::uint64_t>(line.number[1]), report.number());
}

/// hey, oha and ghz print alike: ghz is written after hey, oha too.
constexpr ReportRow hey_rows[] = {
    {.shape = "Summary:", .opens = summary},
    {.shape = "Name: %*", .part = summary},  // ghz
    {.shape = "Count: %c", .part = summary}, // ghz; all that were sent
    {.shape = "Success rate: %p", .part = summary},
    {.shape = "Success rate: %n", .part = summary},
    {.shape = "Total: %t", .part = summary},
    {.shape = "Slowest: %t",
     .use = [](ReportReader& report, Captures const& line) { report.quantile(1.0, line.number[0]); },
     .part = summary},
    {.shape = "Fastest: %t",
     .use = [](ReportReader& report, Captures const& line) { report.quantile(0.0, line.number[0]); },
     .part = summary},
    {.shape = "Average: %t",
     .use = [](ReportReader& report, Captures const& line) { report.mean(line.number[0]); },
     .part = summary},
    {.shape = "Requests/sec: %n", .part = summary},
    {.shape = "Total data: %s", .part = summary},
    {.shape = "Size/request: %s", .part = summary},
    {.shape = "Size/sec: %s", .part = summary},
    {.shape = "Response time histogram:", .opens = histogram},
    {.shape = "%n [%c] |%*",
     .use = [](ReportReader& report, Captures const& line) { report.drawn(line.number[1]); },
     .part = histogram,
     .many = true,
     .alike = true},
    {.shape = "%t [%c] |%*",
     .use = [](ReportReader& report, Captures const& line) { report.drawn(line.number[1]); },
     .part = histogram,
     .many = true,
     .alike = true},
    {.shape = "Latency distribution:", .opens = percentiles},
    {.shape = "Response time distribution:", .opens = percentiles},
    {.shape = "%p in %t",
     .use = [](ReportReader& report, Captures const& line) { report.quantile(line.number[0], line.number[1]); },
     .part = percentiles,
     .many = true},
    {.shape = "Details (average, fastest, slowest):", .opens = details},
    {.shape = "DNS+dialup: %t, %t, %t", .part = details},
    {.shape = "DNS-lookup: %t, %t, %t", .part = details},
    {.shape = "req write: %t, %t, %t", .part = details},
    {.shape = "resp wait: %t, %t, %t", .part = details},
    {.shape = "resp read: %t, %t, %t", .part = details},
    {.shape = "Status code distribution:", .opens = statuses},
    {.shape = "[%c] %c responses", .use = answered, .part = statuses, .many = true},
    {.shape = "[OK] %c responses",
     .use = [](ReportReader& report, Captures const& line) { report.requests(line.number[0]); },
     .part = statuses},
    {.shape = "[%a] %c responses",
     .use = answered,
     .part = statuses,
     .many = true}, // ghz: "[Unavailable]   2 responses"
    {.shape = "Error distribution:", .opens = errors},
    {.shape = "[%c] %*",
     .use = [](ReportReader& report, Captures const& line) { report.failed(line.number[0]); },
     .part = errors,
     .many = true},
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

void read_hey_like(HeadSource& source, SampleBuilder& samples, std::string note) {
    std::string const text = whole_report(source, samples);
    samples.set_unit(*time_unit("s"), "format");
    ReportReader{text, hey_rows, samples}.read();
    samples.note(std::move(note));
}

bool is_object(std::string_view head) { return trimmed_line(head.substr(0, 8)).starts_with('{'); }

void read_oha_json(nlohmann::json const& whole, SampleBuilder& samples) {
    ReportKeys report{whole, samples};
    samples.set_unit(*time_unit("s"), "format");
    auto const& summary = report.object(whole, "summary");
    report.mean(summary, "average");
    report.quantile(summary, "slowest", 1.0);
    report.quantile(summary, "fastest", 0.0);
    report.known(summary, "successRate total requestsPerSec totalData sizePerRequest sizePerSec");
    report.quantiles(report.object(whole, "latencyPercentiles"));
    auto const& statuses = report.member(whole, "statusCodeDistribution");
    for (auto const& [status, count] : report.members(statuses)) {
        std::uint64_t const responses = count_in(statuses, status).value_or(0);
        samples.found().stated_count += responses;
        count_status(samples, status, responses);
    }
    auto const& errors = report.member(whole, "errorDistribution");
    for (auto const& [error, count] : report.members(errors)) {
        auto const failed = count_in(errors, error).value_or(0);
        if (failed > 0) { samples.leave_out(SampleIssue::failed, 0, failed, error); }
    }
    report.known(whole, "responseTimeHistogram rps details");
    report.finish();
}

void read_ghz_json(nlohmann::json const& whole, SampleBuilder& samples) {
    ReportKeys report{whole, samples};
    samples.set_unit(*time_unit("ns"), "format");
    report.mean(whole, "average");
    report.quantile(whole, "slowest", 1.0);
    report.quantile(whole, "fastest", 0.0);
    for (auto const& [place, row] : report.members(report.member(whole, "latencyDistribution"))) {
        auto const percent = number_in(row, "percentage"), value = number_in(row, "latency");
        if (percent && value) { state_quantile(samples, *percent / 100.0, samples.unit().base(*value), 0); }
    }
    samples.found().stated_count = report.count(whole, "count");
    auto const& statuses = report.member(whole, "statusCodeDistribution");
    for (auto const& [status, count] : report.members(statuses)) {
        count_status(samples, status, count_in(statuses, status).value_or(0));
    }
    report.known(whole, "name endReason options date total rps histogram errorDistribution details tags");
    report.finish();
}

} // namespace

bool looks_like_hey(std::string_view head) {
    return has(head, "Summary:") && has(head, "Slowest:") && has(head, "Fastest:");
}
bool looks_like_oha(std::string_view head) {
    if (is_object(head)) { return has(head, "\"latencyPercentiles\"") && has(head, "\"summary\""); }
    return looks_like_hey(head) && has(head, "Success rate:");
}
bool looks_like_ghz(std::string_view head) {
    if (is_object(head)) { return has(head, "\"latencyDistribution\"") && has(head, "\"fastest\""); }
    return looks_like_hey(head) && has(head, "Count:");
}

void read_hey(HeadSource& source, SampleBuilder& samples) {
    read_hey_like(source, samples, "a report of hey: quantiles without their samples (hey -o csv writes them)");
}
void read_oha(HeadSource& source, SampleBuilder& samples) {
    if (is_object(source.head())) {
        return read_oha_json(parse_report(whole_report(source, samples), samples), samples);
    }
    read_hey_like(source, samples, "a report of oha: quantiles without their samples");
}
void read_ghz(HeadSource& source, SampleBuilder& samples) {
    if (is_object(source.head())) {
        return read_ghz_json(parse_report(whole_report(source, samples), samples), samples);
    }
    read_hey_like(source, samples, "a report of ghz: quantiles without their samples");
}

} // namespace headroom::io
