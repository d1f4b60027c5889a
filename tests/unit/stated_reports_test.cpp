// Reports of tools that are known by words which they alone write: every line is one that the tool writes, or the file is
// refused; units are the tool's; failures are counted.

#include "support/latency_texts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace headroom {
namespace {

using namespace test;

/// Seconds that a file states of a share; negative where it states none.
double at(io::LatencySamples const& samples, double share) {
    for (auto const& one : samples.stated) {
        if (std::abs(one.q - share) < 1e-9) { return one.value; }
    }
    return -1.0;
}

std::string changed(std::string text, std::string_view from, std::string_view to) {
    text.replace(text.find(from), from.size(), to);
    return text;
}

/// Neither a second report, nor a strange line, nor a last line without an end goes unseen.
void expect_strict(std::string const& text, std::string_view figure, std::string_view other,
                   io::LatencyQuestion const& question = {}) {
    expect_refused(text + changed(text, figure, other), Fault::unreadable, "second report", question);
    expect_refused(changed(text, figure, "x" + std::string{figure}), Fault::unreadable, "", question);
    auto const begun = text.substr(0, text.find(figure) + 1); // in the middle of a number
    expect_refused(begun, Fault::unreadable, "", question);
}

constexpr char const* llmperf = "\\Results for token benchmark for m queried with the openai api.\n\n"
                                "inter_token_latency_s\n    p50 = 0.02\n    p99 = 0.05\n    mean = 0.021\n"
                                "ttft_s\n    p50 = 0.25\n    p90 = 0.5\n    p99 = 0.75\n    mean = 0.3\n    max = 0.9\n"
                                "    stddev = 0.1\n"
                                "request_output_throughput_token_per_s\n    p50 = 137.1\n"
                                "number_input_tokens\n    p50 = 550\n"
                                "Number Of Errored Requests: 3\nError Code Frequency\n{429: 3}\n"
                                "Overall Output Throughput: 512.5\nNumber Of Completed Requests: 97\n"
                                "Completed Requests Per Minute: 60.5\n";

TEST(StatedReports, OfLlmperf) {
    auto const found = read_latencies(llmperf, {.column = "ttft_s"});
    EXPECT_EQ(found.format, "llmperf");
    EXPECT_DOUBLE_EQ(at(found, 0.99), 0.75);
    EXPECT_DOUBLE_EQ(at(found, 1.0), 0.9);
    EXPECT_DOUBLE_EQ(found.stated_mean, 0.3);
    EXPECT_EQ(found.stated_count, 97U);
    EXPECT_EQ(dirt_of(found, "failed request").count, 3U);
    expect_refused(llmperf, Fault::usage, "2 latencies in this report");
    expect_strict(llmperf, "0.75", "0.85", {.column = "ttft_s"});
    auto const json = read_latencies(R"({"model": "m", "results_ttft_s_quantiles_p50": 0.25,
        "results_ttft_s_quantiles_p99": 0.75, "results_ttft_s_mean": 0.3, "results_ttft_s_stddev": 0.1,
        "results_request_output_throughput_token_per_s_quantiles_p50": 137,
        "results_number_errors": 3, "results_num_completed_requests": 97})");
    EXPECT_DOUBLE_EQ(at(json, 0.99), 0.75);
    EXPECT_EQ(json.column, "ttft_s");
    EXPECT_EQ(json.stated_count, 97U);
    EXPECT_EQ(dirt_of(json, "failed request").count, 3U);
}

TEST(StatedReports, OfGuidellm) {
    std::string const times = R"({"successful": {"mean": 300.0, "median": 250.0, "min": 90.0, "max": 900.0, "count": 97,
        "percentiles": {"p001": 91.0, "p05": 95.0, "p90": 500.0, "p99": 750.0, "p999": 890.0}}})";
    std::string const one = R"({"type_": "generative_benchmark", "metrics": {"time_to_first_token_ms": )" + times +
                            R"(, "tokens_per_second": )" + times +
                            R"(, "request_latency": {"successful": {"count": 97}, "errored": {"count": 2},
                            "incomplete": {"count": 1}}}})";
    auto const found = read_latencies("{\"benchmarks\": [" + one + "]}");
    EXPECT_EQ(found.format, "guidellm");
    EXPECT_DOUBLE_EQ(at(found, 0.999), 0.89);
    EXPECT_DOUBLE_EQ(at(found, 0.05), 0.095);
    EXPECT_EQ(dirt_of(found, "failed request").count, 3U);
    expect_refused("{\"benchmarks\": [" + one + "," + one + "]}", Fault::unreadable, "2 benchmarks in this file");
}

TEST(StatedReports, OfTensorRtLlm) {
    std::string const text = "===\n= PERFORMANCE OVERVIEW\n===\nRequest Throughput (req/sec): 19.1\n"
                             "Average request latency (ms): 1860.0\n\n"
                             "-- Request Latency Breakdown (ms) -----------------------\n\n"
                             "[Latency] P50    : 1850.5\n[Latency] P99    : 2500.5\n[Latency] MINIMUM: 1700.0\n"
                             "[Latency] MAXIMUM: 2600.0\n[Latency] AVERAGE: 1860.0\n";
    auto const found = read_latencies(text);
    EXPECT_EQ(found.format, "trtllm-bench");
    EXPECT_DOUBLE_EQ(at(found, 0.99), 2.5005);
    EXPECT_DOUBLE_EQ(at(found, 1.0), 2.6);
    EXPECT_DOUBLE_EQ(found.stated_mean, 1.86);
    expect_strict(text, "2500.5", "2550.5");
    expect_refused(changed(text, "Breakdown (ms)", "Breakdown (us)"), Fault::unreadable, "does not write");

    std::string const manager = "[BENCHMARK] num_samples 100\n[BENCHMARK] num_error_samples 2\n\n"
                                "[BENCHMARK] num_samples 100\n[BENCHMARK] total_latency(ms) 5000.00\n"
                                "[BENCHMARK] avg_sequence_latency(ms) 1860.00\n"
                                "[BENCHMARK] p99_sequence_latency(ms) 2500.00\n"
                                "[BENCHMARK] p50_sequence_latency(ms) 1850.00\n";
    auto const requests = read_latencies(manager);
    EXPECT_EQ(requests.format, "gptmanager");
    EXPECT_DOUBLE_EQ(at(requests, 0.99), 2.5);
    EXPECT_EQ(requests.stated_count, 98U);
    EXPECT_EQ(dirt_of(requests, "failed request").count, 2U);
    expect_strict(manager, "2500.00", "2700.00");
}

TEST(StatedReports, OfAnotherKindAreRefusedWhereTheFormatIsNamed) {
    expect_refused("a\nb\n", Fault::unreadable, "no report of", {.format = "pytest-benchmark"});
    expect_refused("{\"a\": 1}", Fault::unreadable, "no report of", {.format = "trtllm-bench"});
}

TEST(StatedReports, OfMlperf) {
    std::string const text =
        "================================================\nMLPerf Results "
        "Summary\n================================================\nScenario : Server\nResult is : INVALID\n"
        "  Min duration satisfied : NO\n\n================================================\nAdditional "
        "Stats\n================================================\n"
        "Min latency (ns)                : 3100000\n"
        "Mean latency (ns)               : 15600000\n"
        "50.00 percentile latency (ns)   : 12100000\n"
        "99.90 percentile latency (ns)   : 98700000\n"
        "99.90 percentile first token latency (ns)   : 28700000\n"
        "\n================================================\nTest Parameters "
        "Used\n================================================\ntarget_latency (ns): 100\n";
    auto const found = read_latencies(text, {.column = "latency"});
    EXPECT_EQ(found.format, "mlperf");
    EXPECT_DOUBLE_EQ(at(found, 0.999), 0.0987);
    EXPECT_TRUE(notes_say(found, "INVALID"));
    EXPECT_DOUBLE_EQ(at(read_latencies(text, {.column = "first token latency"}), 0.999), 0.0287);
    expect_strict(text, "98700000", "99900000", {.column = "latency"});
}

TEST(StatedReports, OfTrtexecTakeTheLatencyOfTheWhole) {
    std::string const line = "min = 3.1 ms, max = 9.5 ms, mean = 4.5 ms, median = 4.1 ms, percentile(90%) = 5.5 ms, "
                             "percentile(95%) = 6.5 ms, percentile(99%) = 8.5 ms\n";
    std::string const stamp = "[01/02/2026-10:00:00] [I] ";
    std::string const text = stamp + "Starting inference\n" + stamp + "=== Performance summary ===\n" + stamp +
                             "Throughput: 64.1 qps\n" + stamp + "Latency: " + line + stamp + "Enqueue Time: " + line +
                             stamp + "GPU Compute Time: " + changed(line, "8.5", "8.4") + stamp + "\n";
    auto const found = read_latencies(text);
    EXPECT_EQ(found.format, "trtexec");
    EXPECT_EQ(found.column, "Latency");
    EXPECT_DOUBLE_EQ(at(found, 0.99), 8.5e-3);
    EXPECT_DOUBLE_EQ(at(read_latencies(text, {.column = "GPU Compute Time"}), 0.99), 8.4e-3);
    EXPECT_EQ(dirt_of(found, "row of another metric").count, 7U);
    expect_refused(text + text, Fault::unreadable, "second report");
    expect_refused(changed(text, "max = 9.5", "max = x"), Fault::unreadable, "no Latency in this report of trtexec");
}

TEST(StatedReports, OfPerfAnalyzerInMicroseconds) {
    std::string const text =
        "Request concurrency: 4\n  Client: \n    Request count: 1154\n"
        "    Throughput: 64.1 infer/sec\n"
        "    Avg latency: 15600 usec (standard deviation 11200 usec)\n"
        "    p50 latency: 12100 usec\n    p99 latency: 98700 usec\n"
        "    Avg HTTP time: 15590 usec (send/recv 20 usec)\n  Server: \n    Inference count: 1154\n";
    auto const found = read_latencies(text);
    EXPECT_DOUBLE_EQ(at(found, 0.99), 0.0987);
    EXPECT_EQ(found.stated_count, 1154U);
    expect_strict(text, "98700", "99700");
    std::string const table =
        "Concurrency,Inferences/Second,Client Send,p50 latency,p99 latency\n4,64.1,10,12100,98700\n";
    EXPECT_DOUBLE_EQ(at(read_latencies(table), 0.99), 0.0987);
}

TEST(StatedReports, OfLoadGenerators) {
    std::string const fortio =
        "Fortio 1.60.3 running at 100 queries per second, 8->8 procs, for 10s: http://x/\n"
        "Aggregated Function Time : count 1000 avg 0.0156 +/- 0.01 min 0.0031 max 0.4125 sum 15.6\n"
        "# range, mid point, percentile, count\n>= 0.0031 <= 0.4125 , 0.2 , 100.00, 1000\n"
        "# target 50% 0.0121\n# target 99.9% 0.3811\nError cases : count 2 avg 1 +/- 0 min 1\n"
        "# target 50% 1\nCode 200 : 998 (99.8 %)\nCode -1 : 2 (0.2 %)\n"
        "All done 1000 calls (plus 4 warmup) 15.600 ms avg, 99.9 qps\n";
    auto const calls = read_latencies(fortio);
    EXPECT_EQ(calls.format, "fortio");
    EXPECT_DOUBLE_EQ(at(calls, 0.999), 0.3811);
    EXPECT_EQ(dirt_of(calls, "failure among").count, 2U);
    expect_strict(fortio, "0.0121", "0.0131");

    std::string const artillery =
        "Metrics for period to: 00:00:10(+0000) (width: 9s)\nhttp.response_time:\n  p99: ... 5\n"
        "Summary report @ 00:00:31(+0000)\n-----\n\nerrors.ETIMEDOUT: ..... 4\n"
        "http.codes.200: ..... 1490\nhttp.codes.500: ..... 10\nhttp.request_rate: ... 50/sec\n"
        "http.response_time:\n  min: ..... 3\n  median: .... 12.1\n  p99: ...... 98.7\n"
        "http.responses: ..... 1500\nvusers.session_length:\n  p99: ..... 1098\n";
    auto const scenario = read_latencies(artillery);
    EXPECT_DOUBLE_EQ(at(scenario, 0.99), 0.0987);
    EXPECT_EQ(scenario.stated_count, 1500U);
    EXPECT_EQ(dirt_of(scenario, "failed request").count, 4U);
    EXPECT_EQ(dirt_of(scenario, "failure among").count, 10U);
    expect_refused(artillery + changed(artillery, "98.7", "91.7"), Fault::unreadable, "does not write");
    expect_refused(changed(artillery, "98.7", "x98.7"), Fault::unreadable, "");
    expect_refused(artillery.substr(0, artillery.find("98.7") + 1), Fault::unreadable, "");

    std::string const gatling = "---- Global Information ------\n> request count     1500 (OK=1400   KO=100   )\n"
                                "> max response time    30000 (OK=412    KO=30000 )\n"
                                "> response time 50th percentile         13 (OK=12     KO=30000 )\n"
                                "> response time 99th percentile      30000 (OK=99     KO=30000 )\n"
                                "---- Response Time Distribution ----\n> t < 800 ms     1400 ( 93%)\n"
                                "=========\n";
    auto const good = read_latencies(gatling);
    EXPECT_DOUBLE_EQ(at(good, 0.99), 0.099);
    EXPECT_EQ(good.stated_count, 1400U);
    EXPECT_EQ(dirt_of(good, "failed request").count, 100U);
}

TEST(StatedReports, OfBenchmarks) {
    std::string const sysbench = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\nNumber of threads: 4\n"
                                 "    total number of events:              1000\nLatency (ms):\n"
                                 "         min:    3.10\n         avg:   15.60\n         max:  412.50\n"
                                 "         95th percentile:   41.20\n         sum:  15600.00\n"
                                 "Threads fairness:\n    events (avg/stddev):  250.0000/2.00\n";
    EXPECT_DOUBLE_EQ(at(read_latencies(sysbench), 0.95), 0.0412);
    EXPECT_EQ(read_latencies(sysbench).stated_count, 1000U);
    expect_strict(sysbench, "41.20", "42.20");
    expect_refused(changed(sysbench, "41.20", "41.20k"), Fault::unreadable, "a time that no tool writes");
    expect_refused(changed(sysbench, "15.60", "1.60"), Fault::unreadable, "the mean lies outside of the extremes");

    auto const redis = [](std::string const& test, std::string const& p99) {
        return "====== " + test + " ======\n  100 requests completed in 1.25 seconds\n  keep alive: 1\n\n" +
               "Latency by percentile distribution:\n0.000% <= 0.031 milliseconds (cumulative count 2)\n\n" +
               "Cumulative distribution of latencies:\n99.000% <= 9.0 milliseconds (cumulative count "
               "99)\n\nSummary:\n" +
               "  throughput summary: 80000.00 requests per second\n  latency summary (msec):\n" +
               "     avg    min    p50    p95    p99    max\n   0.156  0.031  0.121  0.412  " + p99 + "  4.125\n";
    };
    std::string const both = redis("GET", "0.987") + redis("SET", "1.987");
    EXPECT_DOUBLE_EQ(at(read_latencies(both, {.column = "SET"}), 0.99), 1.987e-3);
    EXPECT_EQ(read_latencies(both, {.column = "SET"}).stated_count, 100U);
    expect_refused(both, Fault::usage, "2 latencies in this report");
    expect_refused(both + redis("SET", "1.999"), Fault::unreadable, "second report", {.column = "SET"});

    auto const hyperfine = read_latencies(R"({"results": [{"command": "sleep", "times": [0.1, 0.2, 0.3],
                                              "exit_codes": [0, 1, 0]}]})");
    EXPECT_EQ(hyperfine.digest.values().count(), 2U);
    EXPECT_EQ(dirt_of(hyperfine, "failed request").count, 1U);
    std::string const pytest = R"({"machine_info": {}, "benchmarks": [{"name": "t", "stats": {"iterations": 1,
                               "data": [0.1, 0.2]}}]})";
    EXPECT_EQ(read_latencies(pytest).digest.values().count(), 2U);
    expect_refused(changed(pytest, "\"iterations\": 1", "\"iterations\": 5"), Fault::unreadable, "mean of 5 calls");
    std::string const vllm = R"({"avg_latency": 1.5, "latencies": [1.0, 2.0], "percentiles": {"10": 1.1, "25": 1.2,
                             "50": 1.5, "75": 1.7, "90": 1.9, "99": 2.0}})";
    EXPECT_EQ(read_latencies(vllm).digest.values().count(), 2U);
    expect_refused(changed(vllm, "1.5", "1.6"), Fault::unreadable, "no report of vllm bench latency");
}

TEST(StatedReports, OfTextGenerationInference) {
    std::string const text = "| Parameter | Value |\n|---|---|\n| Model | m |\n\n"
                             "| Step | Batch Size | Average | Lowest | Highest | p50 | p90 | p99 |\n|---|---|\n"
                             "| Prefill | 1 | 15.60 ms | 3.10 ms | 412.50 ms | 12.10 ms | 34.50 ms | 98.70 ms |\n"
                             "| Decode (token) | 1 | 7.20 ms | 6.90 ms | 9.10 ms | 7.00 ms | 8.70 ms | 9.00 ms |\n";
    EXPECT_DOUBLE_EQ(at(read_latencies(text, {.where = {{"Step", "Prefill"}}}), 0.99), 0.0987);
    EXPECT_DOUBLE_EQ(at(read_latencies(text, {.column = "Decode (token)"}), 0.99), 0.009);
    expect_refused(text, Fault::usage, "2 latencies in this report");
    expect_strict(text, "98.70", "91.70", {.column = "Prefill"});
}

TEST(StatedReports, OfVllmAndGenaiPerfBehindOtherLines) {
    std::string const vllm = "Maximum request concurrency: 64\n100%|####| 10/10 [00:52]\n"
                             "============ Serving Benchmark Result ============\nSuccessful requests: 1000\n"
                             "Maximum request concurrency: 60\nMean TTFT (ms): 15.60\nP99 TTFT (ms): 98.70\n";
    EXPECT_DOUBLE_EQ(at(read_latencies(vllm), 0.99), 0.0987);
    std::string const wide = "            NVIDIA GenAI-Perf | LLM Metrics     \n"
                             "\xE2\x94\x83 Statistic \xE2\x94\x83 avg \xE2\x94\x83 p99 \xE2\x94\x83\n"
                             "\xE2\x94\x82 Request Latency (ms) \xE2\x94\x82 15.60 \xE2\x94\x82 98.70 \xE2\x94\x82\n";
    EXPECT_DOUBLE_EQ(at(read_latencies(wide), 0.99), 0.0987);
    expect_refused(wide + wide, Fault::unreadable, "second report");
}

constexpr char const* ycsb =
    "YCSB Client 0.17.0\n[OVERALL], RunTime(ms), 10110\n[OVERALL], Throughput(ops/sec), 98.91\n"
    "[READ], Operations, 504\n[READ], AverageLatency(us), 1023.45\n[READ], MinLatency(us), 512\n"
    "[READ], MaxLatency(us), 23456\n[READ], 95thPercentileLatency(us), 1890\n"
    "[READ], 99thPercentileLatency(us), 4567\n[READ], Return=OK, 501\n"
    "[READ], Return=NOT_FOUND, 3\n[CLEANUP], Operations, 1\n[CLEANUP], AverageLatency(us), 3.0\n"
    "[UPDATE], Operations, 496\n[UPDATE], AverageLatency(us), 1100.5\n"
    "[UPDATE], 99thPercentileLatency(us), 5000\n[UPDATE], Return=OK, 496\n";

TEST(StatedReports, OfYcsb) {
    auto const found = read_latencies(ycsb, {.column = "READ"});
    EXPECT_EQ(found.format, "ycsb");
    EXPECT_DOUBLE_EQ(at(found, 0.99), 4567e-6);
    EXPECT_DOUBLE_EQ(found.stated_mean, 1023.45e-6);
    EXPECT_EQ(found.stated_count, 504U);
    EXPECT_EQ(dirt_of(found, "failed request").count, 3U);
    EXPECT_DOUBLE_EQ(at(read_latencies(ycsb, {.column = "UPDATE"}), 0.99), 5e-3);
    expect_refused(ycsb, Fault::usage, "2 latencies in this report");
    std::string const text = ycsb, again = text.substr(text.find("[OVERALL]"));
    expect_refused(text + changed(again, "4567", "4667"), Fault::unreadable, "second report", {.column = "READ"});
    expect_refused(changed(text, "4567", "x4567"), Fault::unreadable, "", {.column = "READ"});
    expect_refused(text.substr(0, text.find("4567") + 1), Fault::unreadable, "", {.column = "READ"});
}

TEST(StatedReports, OfFioText) {
    std::string const text = "fio-3.33\nStarting 1 process\n\n"
                             "randread: (groupid=0, jobs=1): err= 0: pid=1301: Fri Jun  2 10:00:00 2023\n"
                             "  read: IOPS=25.5k, BW=99.7MiB/s (105MB/s)(5983MiB/60001msec)\n"
                             "    slat (nsec): min=1200, max=120034, avg=2345.67, stdev=345.67\n"
                             "    clat (usec): min=20, max=15.6k, avg=312.45, stdev=98.12\n"
                             "     lat (usec): min=22, max=8125, avg=314.80, stdev=98.20\n"
                             "    clat percentiles (nsec):\n"
                             "     |  1.00th=[  1200], 50.00th=[ 30200], 99.00th=[ 62700], 99.50th=[113709],\n"
                             "     | 99.99th=[218000]\n"
                             "   bw (  KiB/s): min=90000, max=110000, per=100.00%, avg=102100.12\n"
                             "   iops        : min=22500, max=27500, avg=25525.03\n"
                             "  lat (usec)   : 50=0.01%, 100=0.50%\n"
                             "  cpu          : usr=5.10%, sys=20.20%, ctx=1531648, majf=0, minf=18\n"
                             "  IO depths    : 1=0.1%, 2=0.1%\n     submit    : 0=0.0%, 4=100.0%\n"
                             "     complete  : 0=0.0%, 4=100.0%\n     issued rwts: total=1531648,0,0,0\n"
                             "     latency   : target=0, window=0, percentile=100.00%, depth=8\n\n"
                             "Run status group 0 (all jobs):\n   READ: bw=99.7MiB/s (105MB/s)\n";
    auto const found = read_latencies(text);
    EXPECT_EQ(found.format, "fio-text");
    EXPECT_EQ(found.column, "read");
    EXPECT_DOUBLE_EQ(found.stated_mean, 312.45e-6);
    EXPECT_DOUBLE_EQ(at(found, 0.99), 62.7e-6) << "in the unit of its own line";
    EXPECT_DOUBLE_EQ(at(found, 0.9999), 218e-6);
    EXPECT_EQ(read_latencies(text, {.format = "fio"}).format, "fio-text");
    expect_refused(changed(text, "99.00th=[ 62700]", "99.00th=[ 62.7k]"), Fault::unreadable,
                   "a time that no tool writes");
    expect_refused(text + text, Fault::unreadable, "a second report in this file");
}

TEST(LineSamples, OfPingWithProbesThatAreLost) {
    std::string const text =
        "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n"
        "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.345 ms\n"
        "64 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=1.25 ms (DUP!)\n"
        "From 10.0.0.9 icmp_seq=3 Destination Host Unreachable\n\n--- 10.0.0.1 ping statistics ---\n"
        "5 packets transmitted, 2 received, 60% packet loss, time 3004ms\n"
        "rtt min/avg/max/mdev = 0.345/0.652/1.250/0.390 ms\n";
    auto const found = read_latencies(text);
    EXPECT_EQ(found.format, "ping");
    EXPECT_EQ(found.digest.values().count(), 2U);
    EXPECT_EQ(found.digest.values().most(), 0.00125);
    EXPECT_EQ(dirt_of(found, "failed request").count, 3U) << "of most lost probes there is no line";
    expect_refused(text, Fault::usage, "--column chooses nothing", {.column = "2"});
}

TEST(LineSamples, OfNginxWithoutFailures) {
    std::string const text =
        "10.0.0.1 - - [10/Oct/2023:13:55:36 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"c\" rt=0.012 urt=\"0.011\"\n"
        "10.0.0.1 - - [10/Oct/2023:13:55:37 +0000] \"GET /b HTTP/1.1\" 503 5 \"-\" \"c\" rt=9.9 urt=\"-\"\n"
        "10.0.0.1 - - [10/Oct/2023:13:55:38 +0000] \"GET /b HTTP/1.1\" 201 5 \"-\" \"c\" rt=0.02 urt=\"-\"\n";
    auto const found = read_latencies(text);
    EXPECT_EQ(found.format, "nginx");
    EXPECT_EQ(found.digest.values().count(), 2U);
    EXPECT_EQ(found.digest.values().most(), 0.02);
    EXPECT_EQ(dirt_of(found, "failed request"), (DirtSeen{1, 2}));
    EXPECT_EQ(read_latencies(text, {.keep_failed = true}).digest.values().most(), 9.9);
}

TEST(LineSamples, SentencesOfOtherTimesAreRefused) {
    for (std::string const word : {"consumer lag", "retrying after", "cache age", "sleep"}) {
        std::string const line = word + " 12s\n";
        expect_refused(line + line + line, Fault::usage, "");
    }
    expect_refused("<?xml version=\"1.0\"?>\n<testResults><httpSample t=\"12\"/></testResults>\n", Fault::unreadable,
                   "HTML or XML");
}

} // namespace
} // namespace headroom
