#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/report_rows.hpp"

namespace headroom::io {
namespace {

constexpr double milli = 1e-3;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

void count_requests(ReportReader& report, Captures const& line) { report.requests(line.number[0]); }
void count_failed(ReportReader& report, Captures const& line) { report.failed_among(line.number[0]); }
void take_least(ReportReader& report, Captures const& line) { report.quantile(0.0, line.number[0]); }
void take_most(ReportReader& report, Captures const& line) { report.quantile(1.0, line.number[0]); }
void take_median(ReportReader& report, Captures const& line) { report.quantile(0.5, line.number[0]); }
void take_mean(ReportReader& report, Captures const& line) { report.mean(line.number[0]); }

void read_with(HeadSource& source, SampleBuilder& samples, std::span<ReportRow const> rows, std::string note) {
    std::string const text = whole_report(source, samples);
    samples.set_unit(*time_unit("s"), "format");
    ReportReader{text, rows, samples}.read();
    samples.note(std::move(note));
}

// ---- ApacheBench ------------------------------------------------------------------------------------------------------

enum Part { anywhere, percentiles };

constexpr ReportRow ab_rows[] = {
    {.shape = "This is ApacheBench, %*"},
    {.shape = "Copyright %*", .many = true},
    {.shape = "Licensed to %*"},
    {.shape = "Benchmarking %*"},
    {.shape = "Completed %c requests", .many = true},
    {.shape = "Finished %c requests"},
    {.shape = "Server Software:%*"},
    {.shape = "Server Hostname: %*"},
    {.shape = "Server Port: %c"},
    {.shape = "SSL/TLS Protocol: %*"},
    {.shape = "Server Temp Key: %*"},
    {.shape = "TLS Server Name: %*"},
    {.shape = "Document Path: %*"},
    {.shape = "Document Length: %s"},
    {.shape = "Document Length: Variable"},
    {.shape = "Concurrency Level: %c"},
    {.shape = "Time taken for tests: %t"},
    {.shape = "Complete requests: %c", .use = count_requests},
    {.shape = "Failed requests: %c", .use = count_failed},
    {.shape = "(Connect: %c, Receive: %c, Length: %c, Exceptions: %c)"},
    {.shape = "Write errors: %c"},
    {.shape = "Non-2xx responses: %c",
     .use = [](ReportReader& report, Captures const& line) { report.failed_among(line.number[0]); }},
    {.shape = "Keep-Alive requests: %c"},
    {.shape = "Total transferred: %s"},
    {.shape = "Total body sent: %c"},
    {.shape = "HTML transferred: %s"},
    {.shape = "Requests per second: %n [#/sec] (mean)"},
    {.shape = "Time per request: %n [ms] (mean)",
     .use = [](ReportReader& report, Captures const& line) { report.mean(milli * line.number[0]); }},
    {.shape = "Time per request: %n [ms] (mean, across all concurrent requests)"},
    {.shape = "Transfer rate: %n [Kbytes/sec] received"},
    {.shape = "%n kb/s sent"},
    {.shape = "%n kb/s total"},
    {.shape = "Connection Times (ms)"},
    {.shape = "min mean[+/-sd] median max"},
    {.shape = "Connect: %n %n %n %n %n"},
    {.shape = "Processing: %n %n %n %n %n"},
    {.shape = "Waiting: %n %n %n %n %n"},
    {.shape = "Total: %n %n %n %n %n",
     .use =
         [](ReportReader& report, Captures const& line) {
             report.quantile(0.0, milli * line.number[0]);
             report.mean(milli * line.number[1]);
             report.quantile(1.0, milli * line.number[4]);
         }},
    {.shape = "Percentage of the requests served within a certain time (ms)", .opens = percentiles},
    {.shape = "%p %n (longest request)",
     .use = [](ReportReader& report, Captures const& line) { report.quantile(1.0, milli * line.number[1]); },
     .part = percentiles},
    {.shape = "%p %n",
     .use = [](ReportReader& report, Captures const& line) { report.quantile(line.number[0], milli * line.number[1]); },
     .part = percentiles,
     .many = true},
};

// ---- siege ------------------------------------------------------------------------------------------------------------

/// Durations of siege are seconds with two decimals; the longest and the shortest have no unit.
constexpr ReportRow siege_rows[] = {
    {.shape = "** SIEGE %*"},
    {.shape = "** Preparing %*"},
    {.shape = "The server is now under siege...%*"},
    {.shape = "Lifting the server siege...%*"},
    {.shape = "Transactions: %c hits", .use = count_requests},
    {.shape = "Availability: %p"},
    {.shape = "Elapsed time: %t"},
    {.shape = "Data transferred: %s"},
    {.shape = "Response time: %t", .use = take_mean},
    {.shape = "Transaction rate: %n trans/sec"},
    {.shape = "Throughput: %s"},
    {.shape = "Concurrency: %n"},
    {.shape = "Successful transactions: %c"},
    {.shape = "Failed transactions: %c",
     .use = [](ReportReader& report, Captures const& line) { report.failed(line.number[0]); }},
    {.shape = "Longest transaction: %n", .use = take_most},
    {.shape = "Shortest transaction: %n", .use = take_least},
};

void read_siege_json(nlohmann::json const& whole, SampleBuilder& samples) {
    ReportKeys report{whole, samples};
    samples.set_unit(*time_unit("s"), "format");
    report.mean(whole, "response_time");
    report.quantile(whole, "longest_transaction", 1.0);
    report.quantile(whole, "shortest_transaction", 0.0);
    samples.found().stated_count = report.count(whole, "transactions");
    if (auto const failed = report.count(whole, "failed_transactions"); failed > 0) {
        samples.leave_out(SampleIssue::failed, 0, failed);
    }
    report.known(whole, "availability elapsed_time data_transferred transaction_rate throughput concurrency "
                        "successful_transactions");
    report.finish();
}

// ---- drill ------------------------------------------------------------------------------------------------------------

constexpr ReportRow drill_rows[] = {
    {.shape = "Concurrency %c"},
    {.shape = "Iterations %c"},
    {.shape = "Rampup %c"},
    {.shape = "Base URL %*"},
    {.shape = "Time taken for tests %t"},
    {.shape = "Total requests %c", .use = count_requests},
    {.shape = "Successful requests %c"},
    {.shape = "Failed requests %c", .use = count_failed},
    {.shape = "Requests per second %n [#/sec]"},
    {.shape = "Median time per request %t", .use = take_median},
    {.shape = "Average time per request %t", .use = take_mean},
    {.shape = "Sample standard deviation %t"},
    {.shape = "%n'th percentile %t",
     .use =
         [](ReportReader& report, Captures const& line) {
             if (line.number[0] <= 100.0) { report.quantile(line.number[0] / 100.0, line.number[1]); }
         },
     .many = true},
};

// ---- h2load -----------------------------------------------------------------------------------------------------------

constexpr ReportRow h2load_rows[] = {
    {.shape = "starting benchmark..."},
    {.shape = "spawning thread #%c: %*", .many = true},
    {.shape = "Application protocol: %*"},
    {.shape = "TLS Protocol: %*"},
    {.shape = "Cipher: %*"},
    {.shape = "Server Temp Key: %*"},
    {.shape = "progress: %*", .many = true},
    {.shape = "finished in %t, %n req/s, %s"},
    {.shape = "requests: %c total, %c started, %c done, %c succeeded, %c failed, %c errored, %c timeout",
     .use =
         [](ReportReader& report, Captures const& line) {
             report.requests(line.number[2]);
             report.failed(line.number[4]);
         }},
    {.shape = "status codes: %c 2xx, %c 3xx, %c 4xx, %c 5xx"},
    {.shape = "traffic: %*"},
    {.shape = "min max mean sd +/- sd"},
    {.shape = "time for request: %t %t %t %t %p",
     .use =
         [](ReportReader& report, Captures const& line) {
             report.quantile(0.0, line.number[0]);
             report.quantile(1.0, line.number[1]);
             report.mean(line.number[2]);
         }},
    {.shape = "time for connect: %t %t %t %t %p"},
    {.shape = "time to 1st byte: %t %t %t %t %p"},
    {.shape = "req/s : %n %n %n %n %p"},
};

bool is_object(std::string_view head) { return trimmed_line(head.substr(0, 8)).starts_with('{'); }

} // namespace

bool looks_like_ab(std::string_view head) {
    return has(head, "Percentage of the requests served within a certain time (ms)") ||
           (has(head, "Complete requests:") && has(head, "Time per request:"));
}
void read_ab(HeadSource& source, SampleBuilder& samples) {
    read_with(source, samples, ab_rows,
              "a report of ApacheBench: quantiles in whole milliseconds (ab -g writes samples)");
}

bool looks_like_siege(std::string_view head) {
    if (is_object(head)) { return has(head, "\"longest_transaction\"") && has(head, "\"response_time\""); }
    return has(head, "Longest transaction:") && has(head, "Response time:");
}
void read_siege(HeadSource& source, SampleBuilder& samples) {
    if (is_object(source.head())) {
        read_siege_json(parse_report(whole_report(source, samples), samples), samples);
    } else {
        read_with(source, samples, siege_rows, {});
    }
    samples.note("a report of siege: the mean and the extremes, in hundredths of a second");
}

bool looks_like_drill(std::string_view head) {
    return has(head, "Median time per request") && has(head, "'th percentile");
}
void read_drill(HeadSource& source, SampleBuilder& samples) {
    read_with(source, samples, drill_rows, "a report of drill: quantiles without their samples");
}

bool looks_like_h2load(std::string_view head) { return has(head, "time for request:") && has(head, "finished in "); }
void read_h2load(HeadSource& source, SampleBuilder& samples) {
    read_with(source, samples, h2load_rows,
              "a report of h2load: the mean and the extremes (h2load --log-file writes samples)");
}

} // namespace headroom::io
