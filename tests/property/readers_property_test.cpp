// A file with a line lost, a line twice, or text behind a number reads to something else, is counted as such, or is refused.
// Readers keep no such damage to themselves.

#include "support/damaged_files.hpp"
#include "support/latency_texts.hpp"

#include "headroom/io/benchmark_log.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/request_trace.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace headroom {
namespace {

using namespace test;

/// Figures of samples, without the number of lines.
std::string latencies(std::string const& text, io::LatencyQuestion const& question) {
    io::LatencySamples const samples = test::read_latencies(text, question);
    auto const& values = samples.digest.values();
    std::string found = fmt::format("{} {} {} {} {:.9g}\n", samples.format, samples.column, samples.unit,
                                    samples.stated_count, samples.stated_mean);
    for (auto const& one : samples.stated) { found += fmt::format("{} {:.9g}\n", one.q, one.value); }
    if (!values.empty()) {
        found += fmt::format("{} {:.9g} {:.9g} {:.12g} {:.9g}\n", values.count(), values.least(), values.most(),
                             values.mean(), samples.digest.duration());
        for (double const q : {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999}) {
            found += fmt::format("{:.6g} ", values.quantile(q));
        }
    }
    for (std::string const& note : samples.notes) { found += "\n" + note; }
    return found + "\n" + counted(samples.issues);
}

std::string collectives_of(std::string const& text, std::string const& name) {
    std::string found;
    io::BenchmarkLog const log = io::read_benchmark_log(text, name, {});
    for (auto const& row : log.rows) {
        found += fmt::format("{} {} {} {} {} {} {} {}\n", name_of(row.collective), row.ranks, row.nodes,
                             row.size.size.base(), row.time.base(), row.data_type, row.algorithm, row.system);
    }
    for (std::string const& note : log.notes) { found += note + "\n"; }
    return found + counted(log.issues);
}

std::string requests(std::string const& text) {
    io::RequestTrace const trace = io::read_request_text(text, "t", {});
    std::string found = fmt::format("{} {} {}\n", trace.format, trace.time_unit, trace.out_of_order);
    for (auto const& one : trace.requests) { found += fmt::format("{} {} {}\n", one.arrives, one.prompt, one.output); }
    return found + counted(trace.issues);
}

std::string data(std::string const& name) {
    return io::read_file(std::string{HEADROOM_SOURCE_DIR} + "/tests/data/" + name);
}

/// Lines of reports, and keys, that hold nothing of latencies.
std::vector<std::string_view> const quiet_lines{"RUN\t",
                                                "USER\t",
                                                "Running",
                                                "threads and",
                                                "Thread calibration",
                                                "Thread Stats",
                                                "Req/Sec",
                                                "Detailed Percentile",
                                                "Requests/sec",
                                                "Transfer/sec",
                                                "------",
                                                "Buckets",
                                                "Summary:",
                                                "Success rate",
                                                "Total:",
                                                "Total data",
                                                "Size/",
                                                "histogram",
                                                "DNS",
                                                "req write",
                                                "resp wait",
                                                "resp read",
                                                "Details",
                                                "Name:",
                                                "Count:",
                                                "Done!",
                                                "Statistics",
                                                "Reqs/sec",
                                                "Throughput",
                                                "Server",
                                                "Document",
                                                "Concurrency",
                                                "Time taken",
                                                "(Connect:",
                                                "transferred",
                                                "Requests per second",
                                                "Time per request:",
                                                "Transfer rate",
                                                "Connection Times",
                                                "min ",
                                                "Connect:",
                                                "Processing:",
                                                "Waiting:",
                                                "Finished",
                                                "Availability",
                                                "Elapsed",
                                                "Data tr",
                                                "Transaction rate",
                                                "Successful",
                                                "Iterations",
                                                "Rampup",
                                                "Base URL",
                                                "Sample standard",
                                                "starting benchmark",
                                                "Application protocol",
                                                "finished in",
                                                "status codes",
                                                "traffic:",
                                                "time for connect",
                                                "time to 1st",
                                                "req/s ",
                                                "data_received",
                                                "http_req_blocked",
                                                "Bytes ",
                                                "Duration ",
                                                "Status Codes",
                                                "Error Set",
                                                "Vegeta is",
                                                "Writing",
                                                "Maximum request concurrency",
                                                "Benchmark duration",
                                                "Total input tokens",
                                                "Total generated tokens",
                                                "Request throughput",
                                                "oken throughput",
                                                "Request Throughput",
                                                "LLM Metrics",
                                                "Metric,Value",
                                                "Token Throughput",
                                                "======",
                                                "\xE2\x94\x81\xE2\x94\x81", // lines of boxes
                                                "\xE2\x94\x80\xE2\x94\x80",
                                                "\"fio version",
                                                "\"jobname",
                                                "\"total_ios\" : 0",
                                                "\"num_prompts",
                                                "\"request_throughput",
                                                "\"input_config",
                                                "\"date",
                                                "StartTimestamp",
                                                "HTTP codes",
                                                "Value ",
                                                "Status code",
                                                "\"S",
                                                "\"A",
                                                "\"L",
                                                "\"N",
                                                "\"R",
                                                "\"t",
                                                "\"s",
                                                "\"r",
                                                "\"error",
                                                "\"receivedK",
                                                "\"url",
                                                "{\"spec",
                                                "0.99",
                                                "1.00000000",
                                                "100.000%",
                                                "4.001     0.5",
                                                "0.076715"};
std::vector<std::string_view> const free_lines{"RUN\t",
                                               "USER\t",
                                               "This is ApacheBench",
                                               "Copyright",
                                               "Licensed",
                                               "Benchmarking",
                                               "Completed",
                                               "Bombarding",
                                               " / ",
                                               "spawning",
                                               "progress",
                                               "Thread calibration",
                                               "data_received",
                                               "http_req_blocked",
                                               "expected_response",
                                               "Vegeta is",
                                               "Writing",
                                               "rpc error",
                                               "Get \"",
                                               "traffic:",
                                               "aborted",
                                               "Running",
                                               "Status Codes",
                                               "GET,/",
                                               "POST,/",
                                               "Home,",
                                               "Search,",
                                               "\"Home\"",
                                               "\"transaction\" : \"Home\"",
                                               "maxResTime\" : 400",
                                               "Value ",
                                               "Value(ms)",
                                               "Server Hostname",
                                               "\"fio version",
                                               "\"url\"",
                                               "Vegeta",
                                               "Done!",
                                               "http_reqs,",
                                               "/a,inf",
                                               "/a,late",
                                               "\"/a,15",
                                               "/a,-3",
                                               "/a,,",
                                               "/a,NaN",
                                               ",503,",
                                               "home,500",
                                               ",1050,false",
                                               "timeout, it was",
                                               "\"attack\"",
                                               "Label,"};
/// Metrics of the reports that state several.
std::map<std::string, std::string> const metrics{{"vllm.txt", "TTFT"},
                                                 {"vllm.json", "itl"},
                                                 {"genai_perf.json", "request_latency"},
                                                 {"genai_perf.csv", "Request Latency"},
                                                 {"genai_perf.txt", "Request latency"}};
/// Columns of the tables that are read.
std::map<std::string, std::vector<int>> const used_columns{{"jmeter.csv", {0, 1}},
                                                           {"hey.csv", {0, 7}},
                                                           {"apache_bench.tsv", {1, 4}},
                                                           {"vegeta.csv", {0, 2}},
                                                           {"k6.csv", {1, 2}},
                                                           {"table.csv", {0, 2}},
                                                           {"locust_stats.csv", {4, 15, 17, 18}},
                                                           {"jmeter_aggregate.csv", {1, 2, 3, 4, 5, 6, 7, 8}}};

TEST(Readers, OfTablesAndReportsOfLatenciesLoseNothing) {
    for (auto const& file :
         std::filesystem::directory_iterator{std::string{HEADROOM_SOURCE_DIR} + "/tests/data/latencies"}) {
        std::string const name = file.path().filename().string();
        test::Layout layout{.quiet = quiet_lines, .free = free_lines, .json = name.find(".json") != std::string::npos};
        if (name.starts_with("vegeta_") && name.ends_with(".txt")) {
            layout.row = "BDELRS";
        } // errors at the end are anything
        if (auto const used = used_columns.find(name); used != used_columns.end()) { layout.columns = used->second; }
        io::LatencyQuestion question;
        if (auto const metric = metrics.find(name); metric != metrics.end()) { question.column = metric->second; }
        expect_seen(
            name, data("latencies/" + name), [&](std::string const& text) { return latencies(text, question); },
            layout);
    }
}

TEST(Readers, OfBenchmarkLogsLoseNothing) {
    for (auto const& file :
         std::filesystem::directory_iterator{std::string{HEADROOM_SOURCE_DIR} + "/tests/data/logs"}) {
        std::string const name = file.path().filename().string();
        test::Layout const layout{.quiet = {"Out of bounds"},
                                  .free = {"Out of bounds", "$ ", "./build", "+ mpirun", ">: #", "additional processes",
                                           "620.61", "NCCL WARN", "\"version\""},
                                  .row = "0123456789"};
        expect_seen(
            name, data("logs/" + name), [&](std::string const& text) { return collectives_of(text, name); }, layout);
    }
}

TEST(Readers, OfRecordedRequestsLoseNothing) {
    std::string table = "arrival_s,prompt,output,user\n", objects;
    for (int i = 0; i < 40; ++i) {
        table += fmt::format("{}.{},{},{},u{}\n", i, i % 10, 100 + i, 20 + i, i);
        objects += fmt::format("{{\"timestamp\": {}, \"input_length\": {}, \"output_length\": {}, \"hash\": \"h\"}}\n",
                               100 * i, 100 + i, 20 + i);
    }
    expect_seen("table", table, requests);
    expect_seen("objects", objects, requests);
}

} // namespace
} // namespace headroom
