// Reports of tools, each with the lines that it writes.
#include "latencies/stated_report.hpp"

namespace headroom::io {
namespace {

/// As metrics_summary of token_benchmark_ray.py prints it.
constexpr StatedLine llmperf[] = {
    {"inter_token_latency_s", "", 0, 2, "inter_token_latency_s"},
    {"ttft_s", "", 0, 2, "ttft_s"},
    {"end_to_end_latency_s", "", 0, 2, "end_to_end_latency_s"},
    {"request_output_throughput_token_per_s", "", 0, 3},
    {"number_input_tokens", "", 0, 3},
    {"number_output_tokens", "", 0, 3},
    {"%w = %n", "name value", 2},
    {"%w = %w", "", 3},
    {"Number Of Errored Requests: %c", "failed", 0, 4},
    {"Error Code Frequency", "", 4},
    {"{%*", "", 4},
    {"Overall Output Throughput: %w", "", 4},
    {"Number Of Completed Requests: %c", "count", 4},
    {"Completed Requests Per Minute: %w", "", 4, behind_report},
};

/// As tensorrt_llm/bench/dataclasses/reporting.py prints it.
constexpr StatedLine trtllm_bench[] = {
    {"-- Request Latency Breakdown (ms) %*", "", 0, 2, "Latency"},
    {"-- Per-Request Time-to-First-Token [TTFT] Breakdown (ms) %*", "", 0, 2, "TTFT"},
    {"-- Per-Request Time-per-Output-Token [TPOT] Breakdown (ms) %*", "", 0, 2, "TPOT"},
    {"-- Per-Request Generation Throughput [GTPS] Breakdown (tps/user) %*", "", 0, 3},
    {"[Latency] %a: %n", "name value", 2, 0, "Latency"},
    {"[Latency] P%n : %n", "name value", 2, 0, "Latency"},
    {"[TTFT] %a: %n", "name value", 2, 0, "TTFT"},
    {"[TTFT] P%n : %n", "name value", 2, 0, "TTFT"},
    {"[TPOT] %a: %n", "name value", 2, 0, "TPOT"},
    {"[TPOT] P%n : %n", "name value", 2, 0, "TPOT"},
    {"[GTPS] %*", "", 3},
    {"=%*"},
    {"%a%*"}, // settings, rates and averages, which stand in the breakdown, too
};

/// As benchmarks/cpp/gptManagerBenchmark.cpp prints it.
constexpr StatedLine gptmanager[] = {
    {"[BENCHMARK] num_samples %c", "sent"},
    {"[BENCHMARK] num_error_samples %c", "failed"},
    {"[BENCHMARK] total_latency(ms) %n"},
    {"[BENCHMARK] seq_throughput(seq/sec) %n"},
    {"[BENCHMARK] token_throughput(token/sec) %n"},
    {"[BENCHMARK] %a_sequence_latency(ms) %n", "name value", 0, 0, "sequence_latency"},
    {"[BENCHMARK] p%c_sequence_latency(ms) %n", "name value", 0, 0, "sequence_latency"},
    {"[BENCHMARK] %a_time_to_first_token(ms) %n", "name value", 0, 0, "time_to_first_token"},
    {"[BENCHMARK] p%c_time_to_first_token(ms) %n", "name value", 0, 0, "time_to_first_token"},
    {"[BENCHMARK] %a_inter_token_latency(ms) %n", "name value", 0, 0, "inter_token_latency"},
    {"[BENCHMARK] p%c_inter_token_latency(ms) %n", "name value", 0, 0, "inter_token_latency"},
    {"[BENCHMARK] %a_user_tokens_per_second(tokens/sec/user) %n"},
    {"[BENCHMARK] p%c_user_tokens_per_second(tokens/sec/user) %n"},
    {"[TensorRT-LLM]%*"},
};

/// As loadgen/results.cc prints it.
constexpr StatedLine mlperf[] = {
    {"=====%*"},
    {"Additional Stats", "", 1, 2},
    {"Result is : %a", "verdict", 1},
    {"%*", "", 1}, // constraints, and one percentile, which stands below, too
    {"%a latency (ns) : %n", "name value", 2, 0, "latency"},
    {"%n percentile latency (ns) : %n", "name value", 2, 0, "latency"},
    {"%a First Token latency (ns) : %n", "name value", 2, 0, "first token latency"},
    {"%n percentile first token latency (ns) : %n", "name value", 2, 0, "first token latency"},
    {"%a Time to Output Token (ns) : %n", "name value", 2, 0, "time to output token"},
    {"%n percentile time to output token (ns) : %n", "name value", 2, 0, "time to output token"},
    {"QPS w/ loadgen overhead : %n", "", 2},
    {"QPS w/o loadgen overhead : %n", "", 2},
    {"Scheduled samples per second : %n", "", 2},
    {"Completed samples per second : %n", "", 2},
    {"Completed tokens per second : %n", "", 2},
    {"Tokens per second : %n", "", 2},
    {"Test Parameters Used", "", 2, 3},
    {"%*", "", 3},
};

/// As samples/common/sampleReporting.cpp prints it.
constexpr StatedLine trtexec[] = {
    {"%w [I] Latency: min = %t, max = %t, mean = %t, median = %t, percentile(%p) = %t",
     "- min max mean median name value", 0, 0, "Latency"},
    {"%w [I] Latency: min = %t, max = %t, mean = %t, median = %t, percentile(%p) = %t, percentile(%p) = %t, "
     "percentile(%p) = %t",
     "- min max mean median name value name value name value", 0, 0, "Latency"},
    {"%w [I] GPU Compute Time: min = %t, max = %t, mean = %t, median = %t, percentile(%p) = %t",
     "- min max mean median name value", 0, 0, "GPU Compute Time"},
    {"%w [I] GPU Compute Time: min = %t, max = %t, mean = %t, median = %t, percentile(%p) = %t, "
     "percentile(%p) = %t, percentile(%p) = %t",
     "- min max mean median name value name value name value", 0, 0, "GPU Compute Time"},
    {"%w [I] %*"},
    {"%w [I]"},
    {"%w [W] %*"},
    {"&&&& %*"},
};

/// As perf_analyzer/src/inference_profiler.cc prints it.
constexpr StatedLine perf_analyzer[] = {
    {"Request concurrency: %c", "", 1, 2},
    {"Client:", "", 2},
    {"Request count: %c", "count", 2},
    {"Throughput: %n infer/sec", "", 2},
    {"Avg latency: %t (standard deviation %t)", "mean -", 2},
    {"p%n latency: %t", "name value", 2},
    {"Avg HTTP time: %*", "", 2},
    {"Avg gRPC time: %*", "", 2},
    {"Server:", "", 2, 3},
    {"Inferences/Second vs. Client %*", "", 0, 4},
    {"%a%*", "", 3}, // of the server alone
    {"Concurrency: %*", "", 4},
};

/// As benchmark/src/table.rs prints it.
constexpr StatedLine tgi[] = {
    {"| Step | Batch Size | Average | Lowest | Highest | p50 | p90 | p99 |", "", 0, 2},
    {"| Step | Batch Size | Average | Lowest | Highest |", "", 0, 3},
    {"|-%*"},
    {"| Prefill | %c | %t | %t | %t | %t | %t | %t |", "- mean min max p50 p90 p99", 2, 0, "Prefill"},
    {"| Decode (token) | %c | %t | %t | %t | %t | %t | %t |", "- mean min max p50 p90 p99", 2, 0, "Decode (token)"},
    {"| Decode (total) | %c | %t | %t | %t | %t | %t | %t |", "- mean min max p50 p90 p99", 2, 0, "Decode (total)"},
    {"| %*", "", 1}, // settings
    {"| %*", "", 3}, // rates
};

/// As fhttp/httprunner.go, stats/stats.go prints it.
constexpr StatedLine fortio[] = {
    {"Aggregated Function Time : count %c avg %n +/- %n min %n max %n sum %n", "count mean - min max -", 1, 2,
     "function time"},
    {"# range, mid point, percentile, count"},
    {">%*"}, // buckets of the percentiles below
    {"# target %p %n", "name value", 2},
    {"Error cases : %*", "", 2, 3},
    {"# target %p %w", "", 3},
    {"Code %w : %c (%p)", "status answers -", 3},
    {"Sockets used: %*", "", 3},
    {"Uniform: %*", "", 3},
    {"# Socket and IP used %*", "", 3},
    {"[%c] %*", "", 3},
    {"Connection time %*", "", 3},
    {"IP addresses distribution:", "", 3},
    {"%w: %c", "", 3},
    {"Response %*", "", 3},
    {"All done %*", "", 3, behind_report},
};

/// As lib/printResult.js prints it.
constexpr StatedLine autocannon[] = {
    {"Running %*", "", 1},
    {"%c connections %*", "", 1},
    {"\xE2\x94\x8C%*"}, // corners and joints of boxes
    {"\xE2\x94\x9C%*"},
    {"\xE2\x94\x94%*"},
    {"\xE2\x94\x82 Stat \xE2\x94\x82 2.5%% \xE2\x94\x82 50%% \xE2\x94\x82 97.5%% \xE2\x94\x82 99%% "
     "\xE2\x94\x82 Avg \xE2\x94\x82 Stdev \xE2\x94\x82 Max \xE2\x94\x82",
     "", 1, 2},
    {"\xE2\x94\x82 Latency \xE2\x94\x82 %t \xE2\x94\x82 %t \xE2\x94\x82 %t \xE2\x94\x82 %t \xE2\x94\x82 %t "
     "\xE2\x94\x82 %t \xE2\x94\x82 %t \xE2\x94\x82",
     "2.5% 50% 97.5% 99% mean - max", 2},
    {"\xE2\x94\x82 Stat \xE2\x94\x82 1%% \xE2\x94\x82 %*", "", 2, 3},
    {"\xE2\x94\x82 %*", "", 3},
    {"Req/Bytes counts sampled %*", "", 3},
    {"# of samples: %c", "", 3},
    {"%n 2xx responses, %n non 2xx responses", "- among", 3},
    {"%n requests in %*", "", 3},
    {"%n errors (%n timeouts)", "failed -", 3},
};

/// As packages/artillery/lib/console-reporter.js prints it.
constexpr StatedLine artillery[] = {
    {"-----%*"},
    {"http.response_time:", "", 0, 2, "http.response_time"},
    {"errors.%w %w %c", "status - failed"},
    {"http.codes.%w %w %c", "status - answers"},
    {"http.responses: %w %c", "- count", 0, 3},
    {"http.%*", "", 0, 3},
    {"vusers.%*", "", 0, 3},
    {"plugins.%*", "", 0, 3},
    {"%w %w %n", "name - value", 2},
    {"%w %w %n", "", 3}, // of other times
};

/// As its ConsoleTemplate prints it.
constexpr StatedLine gatling[] = {
    {"> request count %c (OK=%c KO=%c )", "- count failed", 1},
    {"> request count %c (OK=%c KO=%c)", "- count failed", 1},
    {"> min response time %w (OK=%n KO=%*", "- min -", 1},
    {"> max response time %w (OK=%n KO=%*", "- max -", 1},
    {"> mean response time %w (OK=%n KO=%*", "- mean -", 1},
    {"> response time %w percentile %w (OK=%n KO=%*", "name - value -", 1},
    {"> std deviation %*", "", 1},
    {"> mean requests/sec %*", "", 1},
    {"---- Response Time Distribution %*", "", 1, 2},
    {"> %*", "", 2},
    {"---- Errors %*", "", 2},
    {"=====%*", "", 2, behind_report},
};

/// As src/sysbench.c prints it.
constexpr StatedLine sysbench[] = {
    {"total number of events: %c", "count", 1},
    {"Latency (ms):", "", 1, 2},
    {"%*", "", 1},
    {"sum: %n", "", 2},
    {"%a: %n", "name value", 2},
    {"%w percentile: %n", "name value", 2},
    {"Threads fairness:", "", 2, 3},
    {"events (avg/stddev): %*", "", 3},
    {"execution time (avg/stddev): %*", "", 3, behind_report},
};

/// As src/redis-benchmark.c prints it.
constexpr StatedLine redis[] = {
    {"====== %*", "metric", 0, 1},
    {"%c requests completed in %n seconds", "count -", 1},
    {"%c parallel clients", "", 1},
    {"%c bytes payload", "", 1},
    {"keep alive: %c", "", 1},
    {"host configuration %*", "", 1},
    {"multi-thread: %a", "", 1},
    {"threads: %c", "", 1},
    {"Latency by percentile distribution:", "", 1, 2},
    {"%p <= %n milliseconds (cumulative count %c)", "name value -", 2},
    {"Cumulative distribution of latencies:", "", 2, 3},
    {"%p <= %n milliseconds (cumulative count %c)", "", 3},
    {"Summary:", "", 3, 4},
    {"throughput summary: %n requests per second", "", 4},
    {"latency summary (msec):", "", 4},
    {"avg min p50 p95 p99 max", "", 4, 5},
    {"%n %n %n %n %n %n", "mean min p50 p95 p99 max", 5},
};

/// As run_stats.cpp prints it.
constexpr StatedLine memtier[] = {
    {"=====%*"},
    {"-----%*"},
    {"Type Ops/sec Hits/sec Misses/sec Avg. Latency p50 Latency p99 Latency p99.9 Latency KB/sec", "", 1, 2},
    {"Waits %*", "", 2},
    {"%w %n %w %w %n %n %n %n %n", "metric - - - mean p50 p99 p99.9 -", 2},
    {"Request Latency Distribution", "", 2, behind_report},
};

/// As src/client.cpp prints it.
constexpr StatedLine sockperf[] = {
    {"sockperf: [Total Run] %*"},
    {"sockperf: [Valid Duration] %*"},
    {"sockperf: ========= Printing statistics %*"},
    {"sockperf: ====> avg-latency=%n (std-dev=%*", "mean -"},
    {"sockperf: # dropped messages = %c; %*", "failed -"},
    {"sockperf: Summary: Latency is %n usec"},
    {"sockperf: Total %c observations; %*", "count -"},
    {"sockperf: ---> <MAX> observation = %n", "max"},
    {"sockperf: ---> percentile %n = %n", "name value"},
    {"sockperf: ---> <MIN> observation = %n", "min"},
};

/// As site.ycsb.measurements writes it. Cleaning up is no request.
constexpr StatedLine ycsb[] = {
    {"[OVERALL], %*"},
    {"[TOTAL_%*"},
    {"[CLEANUP], %*"},
    {"[CLEANUP-%*"},
    {"[%a], Operations, %c", "metric count"},
    {"[%a], AverageLatency(us), %n", "metric mean"},
    {"[%a], MinLatency(us), %n", "metric min"},
    {"[%a], MaxLatency(us), %n", "metric max"},
    {"[%a], %nthPercentileLatency(us), %n", "metric name value"},
    {"[%a], %nPercentileLatency(us), %n", "metric name value"},
    {"[%a], Return=OK, %c", "metric -"},
    {"[%a], Return=%w %c", "metric - failed"},
    {"[%a], %c, %c", "metric - -"}, // milliseconds, and operations of so many
    {"[%a], >%c, %c", "metric - -"},
    {"[READ-MODIFY-WRITE], Operations, %c", "count", 0, 0, "READ-MODIFY-WRITE"},
    {"[READ-MODIFY-WRITE], AverageLatency(us), %n", "mean", 0, 0, "READ-MODIFY-WRITE"},
    {"[READ-MODIFY-WRITE], MinLatency(us), %n", "min", 0, 0, "READ-MODIFY-WRITE"},
    {"[READ-MODIFY-WRITE], MaxLatency(us), %n", "max", 0, 0, "READ-MODIFY-WRITE"},
    {"[READ-MODIFY-WRITE], %nthPercentileLatency(us), %n", "name value", 0, 0, "READ-MODIFY-WRITE"},
    {"[READ-MODIFY-WRITE], %*"},
    {"[%a-FAILED], %*"},
};

/// As stat.c prints it: of each direction the times from submission to completion. Extremes may be cut to thousands.
constexpr StatedLine fio[] = {
    {"%w (groupid=%*", "", 1, 1},
    {"%a: IOPS=%*", "metric", 0, 2},
    {"slat (%a): %*", "", 2},
    {"clat (%a): min=%_%w max=%_%w avg=%_%n, stdev=%_%w", "unit - - mean -", 2},
    {"lat (%a): %*", "", 2},
    {"clat percentiles (%a):", "unit", 2},
    {"| %_%nth=[%_%n], %_%nth=[%_%n], %_%nth=[%_%n], %_%nth=[%_%n],", "name value name value name value name value", 2},
    {"| %_%nth=[%_%n], %_%nth=[%_%n], %_%nth=[%_%n], %_%nth=[%_%n]", "name value name value name value name value", 2},
    {"| %_%nth=[%_%n], %_%nth=[%_%n], %_%nth=[%_%n]", "name value name value name value", 2},
    {"| %_%nth=[%_%n], %_%nth=[%_%n]", "name value name value", 2},
    {"| %_%nth=[%_%n]", "name value", 2},
    {"bw (%*", "", 2},
    {"iops %*", "", 2},
    {"lat (%a) %*", "", 2, 3},
    {"lat (%a) %*", "", 3},
    {"cpu %*", "", 0, 3},
    {"IO depths %*", "", 3},
    {"submit %*", "", 3},
    {"complete %*", "", 3},
    {"issued rwts: %*", "", 3},
    {"latency %*", "", 3},
    {"Run status group %*", "", 3, behind_report},
};

constexpr StatedReport reports[] = {
    {.tool = "llmperf",
     .marks = {"Results for token benchmark for ", " queried with the "},
     .begin = "Results for token benchmark for ",
     .lines = llmperf,
     .unit = "s",
     .keys = {"results_num_completed_requests", "results_number_errors"},
     .read_json = read_llmperf_json},
    {.tool = "guidellm", .keys = {"benchmarks", "type_"}, .read_json = read_guidellm_json},
    {.tool = "vllm bench latency", .keys = {"avg_latency", "latencies"}, .read_json = read_vllm_latency_json},
    {.tool = "trtllm-bench",
     .marks = {"= PERFORMANCE OVERVIEW", "[Latency] "},
     .begin = "= PERFORMANCE OVERVIEW",
     .lines = trtllm_bench,
     .unit = "ms"},
    {.tool = "gptManagerBenchmark",
     .marks = {"[BENCHMARK] num_error_samples", "[BENCHMARK] avg_sequence_latency(ms)"},
     .begin = "[BENCHMARK] num_error_samples",
     .lines = gptmanager,
     .unit = "ms"},
    {.tool = "MLPerf loadgen",
     .marks = {"MLPerf Results Summary", "latency (ns)"},
     .begin = "MLPerf Results Summary",
     .lines = mlperf,
     .unit = "ns"},
    {.tool = "trtexec",
     .marks = {"=== Performance summary ===", "[I] Latency: min = "},
     .begin = "=== Performance summary ===",
     .lines = trtexec,
     .unit = "ms",
     .usual = "Latency"},
    {.tool = "perf_analyzer",
     .marks = {"Request concurrency: ", "p50 latency: "},
     .begin = "Request concurrency: ",
     .lines = perf_analyzer,
     .unit = "us"},
    {.tool = "text-generation-benchmark",
     .marks = {"| Parameter ", "| Batch Size | Average "},
     .begin = "| Parameter ",
     .lines = tgi,
     .unit = "ms",
     .condition = "Step"},
    {.tool = "fortio",
     .marks = {"Fortio ", "Aggregated Function Time : count "},
     .begin = "Aggregated Function Time : count ",
     .lines = fortio,
     .unit = "s",
     .keys = {"DurationHistogram", "ActualQPS"},
     .read_json = read_fortio_json},
    {.tool = "autocannon",
     .marks = {"\xE2\x94\x82 Latency \xE2\x94\x82", "\xE2\x94\x82 Req/Sec "},
     .begin = " test @ ",
     .lines = autocannon,
     .unit = "ms",
     .keys = {"latency", "p97_5"},
     .read_json = read_autocannon_json},
    {.tool = "artillery",
     .marks = {"Summary report @ ", "http.response_time:"},
     .begin = "Summary report @ ",
     .lines = artillery,
     .unit = "ms",
     .keys = {"aggregate", "http.response_time"},
     .read_json = read_artillery_json},
    {.tool = "Gatling",
     .marks = {"---- Global Information ---", "> response time 99th percentile "},
     .begin = "---- Global Information ---",
     .lines = gatling,
     .unit = "ms",
     .keys = {"percentiles1", "meanResponseTime"},
     .read_json = read_gatling_json},
    {.tool = "sysbench", .marks = {"sysbench ", "Latency (ms):"}, .begin = " (using ", .lines = sysbench, .unit = "ms"},
    {.tool = "redis-benchmark",
     .marks = {"Latency by percentile distribution:", "milliseconds (cumulative count "},
     .begin = "====== ",
     .lines = redis,
     .unit = "ms",
     .many = true},
    {.tool = "memtier_benchmark",
     .marks = {"ALL STATS", "p99.9 Latency"},
     .begin = "ALL STATS",
     .lines = memtier,
     .unit = "ms",
     .usual = "Totals",
     .condition = "Type"},
    {.tool = "sockperf",
     .marks = {"sockperf: ====> avg-latency=", "sockperf: ---> percentile "},
     .begin = "sockperf: [Total Run] ",
     .lines = sockperf,
     .unit = "us"},
    {.tool = "hyperfine", .keys = {"results", "exit_codes"}, .read_json = read_hyperfine_json},
    {.tool = "pytest-benchmark", .keys = {"machine_info", "benchmarks"}, .read_json = read_pytest_json},
    {.tool = "YCSB",
     .marks = {"[OVERALL], RunTime(ms), ", "PercentileLatency(us), "},
     .begin = "[OVERALL], RunTime(ms), ",
     .lines = ycsb,
     .unit = "us",
     .many = true},
    {.tool = "fio", .marks = {": (groupid=", "clat percentiles ("}, .begin = ": (groupid=", .lines = fio, .unit = "us"},
};
static_assert(std::size(reports) == static_cast<std::size_t>(StatedTool::fio) + 1);

} // namespace

StatedReport const& stated_report(StatedTool tool) { return reports[static_cast<std::size_t>(tool)]; }

} // namespace headroom::io
