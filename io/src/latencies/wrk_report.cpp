#include "latencies/latency_formats.hpp"
#include "latencies/percentile_table.hpp"
#include "latencies/report_rows.hpp"

namespace headroom::io {
namespace {

enum Part { anywhere, percentiles, uncorrected, codes };

void take_quantile(ReportReader& report, Captures const& line) { report.quantile(line.number[0], line.number[1]); }

/// "635.91us 0.89ms 12.92ms 93.69%": the mean, the standard deviation, the greatest.
void take_summary(ReportReader& report, Captures const& line) {
    report.mean(line.number[0]);
    report.quantile(report.third_quantile, line.number[2]);
}

/// wrk2 prints a spectrum of what was recorded.
void take_spectrum(ReportReader& report, Captures const&) {
    std::string_view rest;
    read_percentile_rows(report.lines(), report.samples(), rest);
    report.put_back(rest);
}

/// On demand wrk2 prints another one of times since the sending alone, in which waiting is missing.
void pass_over(ReportReader& report, Captures const&) {
    report.samples().leave_out(SampleIssue::unused_line, report.number(), 1, report.line());
}

constexpr ReportRow wrk_rows[] = {
    {.shape = "Running %t test @ %*", .opens = anywhere},
    {.shape = "%c threads and %c connections"},
    {.shape = "Thread calibration: mean lat.: %*", .many = true, .alike = true},
    {.shape = "Initialised %c threads in %t."},
    {.shape = "Thread Stats Avg Stdev Max +/- Stdev"},
    {.shape = "Thread Stats Avg Stdev 99% +/- Stdev",
     .use = [](ReportReader& report, Captures const&) { report.third_quantile = 0.99; }},
    {.shape = "Latency %t %t %t %p", .use = take_summary},
    {.shape = "Req/Sec %n %n %n %p"},
    {.shape = "Latency Distribution", .opens = percentiles},
    {.shape = "Latency Distribution (HdrHistogram - Recorded Latency)", .opens = percentiles},
    {.shape = "Latency Distribution (HdrHistogram - Uncorrected Latency%*", .use = pass_over, .opens = uncorrected},
    {.shape = "%p %t", .use = take_quantile, .part = percentiles, .many = true},
    {.shape = "Detailed Percentile spectrum:", .many = true, .alike = true},
    {.shape = "Value Percentile TotalCount 1/(1-Percentile)", .use = take_spectrum, .part = percentiles},
    {.shape = "Value Percentile TotalCount 1/(1-Percentile)", .part = uncorrected},
    {.shape = "%p %t", .use = pass_over, .part = uncorrected, .many = true},
    {.shape = "%n %n %c %w", .use = pass_over, .part = uncorrected, .many = true},
    {.shape = "#[%*", .part = uncorrected, .many = true},
    {.shape = "----------------------------------------------------------", .many = true, .alike = true},
    {.shape = "%c requests in %t, %s read",
     .use = [](ReportReader& report, Captures const& line) { report.requests(line.number[0]); },
     .opens = anywhere},
    {.shape = "Socket errors: connect %c, read %c, write %c, timeout %c",
     .use =
         [](ReportReader& report, Captures const& line) {
             report.failed(line.number[0] + line.number[1] + line.number[2] + line.number[3]);
         }},
    {.shape = "Non-2xx or 3xx responses: %c",
     .use = [](ReportReader& report, Captures const& line) { report.failed_among(line.number[0]); }},
    {.shape = "Requests/sec: %n"},
    {.shape = "Transfer/sec: %s"},
};

constexpr ReportRow bombardier_rows[] = {
    {.shape = "Bombarding %*"},
    {.shape = "%c / %c [%*", .many = true, .alike = true}, // progress
    {.shape = "[%*", .many = true, .alike = true},
    {.shape = "Done!"},
    {.shape = "Statistics Avg Stdev Max"},
    {.shape = "Reqs/sec %n %n %n"},
    {.shape = "Latency %t %t %t", .use = take_summary},
    {.shape = "Latency Distribution", .opens = percentiles},
    {.shape = "%p %t", .use = take_quantile, .part = percentiles, .many = true},
    {.shape = "HTTP codes:", .opens = codes},
    {.shape = "1xx - %c, 2xx - %c, 3xx - %c, 4xx - %c, 5xx - %c",
     .use =
         [](ReportReader& report, Captures const& line) {
             for (std::size_t i = 0; i < 5; ++i) { report.requests(line.number.at(i)); }
             report.failed_among(line.number[3] + line.number[4]);
         },
     .part = codes},
    {.shape = "others - %c",
     .use = [](ReportReader& report, Captures const& line) { report.failed(line.number[0]); },
     .part = codes},
    {.shape = "Throughput: %s", .opens = anywhere},
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
bool is_object(std::string_view head) { return trimmed_line(head.substr(0, 8)).starts_with('{'); }

void read_with(HeadSource& source, SampleBuilder& samples, std::span<ReportRow const> rows) {
    std::string const text = whole_report(source, samples);
    samples.set_unit(*time_unit("ms"), "format"); // of the spectrum; all else states its unit
    samples.found().column = "Latency";
    ReportReader{text, rows, samples}.read();
}

} // namespace

bool looks_like_wrk(std::string_view head) { return has(head, "Thread Stats") && has(head, "+/- Stdev"); }
void read_wrk(HeadSource& source, SampleBuilder& samples) { read_with(source, samples, wrk_rows); }

bool looks_like_bombardier(std::string_view head) {
    if (is_object(head)) { return has(head, "\"result\"") && has(head, "\"timeTakenSeconds\""); }
    return has(head, "Reqs/sec") && has(head, "Statistics");
}
void read_bombardier(HeadSource& source, SampleBuilder& samples) {
    if (is_object(source.head())) { return read_bombardier_json(source, samples); }
    read_with(source, samples, bombardier_rows);
    samples.note("a report of bombardier: quantiles without their samples");
}

} // namespace headroom::io
