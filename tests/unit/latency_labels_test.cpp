// Times out of lines of logs, reports of labels and figures, JSON documents and tables within reports.

#include "support/latency_texts.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headroom {
namespace {

using namespace test;

double stated(io::LatencySamples const& samples, double q) {
    for (auto const& one : samples.stated) {
        if (one.q == q) { return one.value; }
    }
    return -1.0;
}

/// The largest of a log's times.
double most(std::string const& text, io::LatencyQuestion const& question = {}) {
    return read_latencies(text, question).digest.values().most();
}

TEST(LatencyLog, ATimeIsKnownByItsLabel) {
    EXPECT_EQ(
        most(
            "10.0.0.1 - - [01/Jan/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 12 \"-\" \"a, b\" rt=0.012 "
            "urt=\"0.010\"\n"
            "10.0.0.1 - - [01/Jan/2026:00:00:01 +0000] \"GET / HTTP/1.1\" 200 12 \"-\" \"a\" rt=0.250 urt=\"0.010\"\n"),
        0.25);
    EXPECT_EQ(most("2026-01-01T00:00:00Z INFO start\n2026-01-01T00:00:00Z INFO request 1 took 12.5ms\n"
                   "2026-01-01T00:00:01Z INFO request 2 took 1.5 seconds\n"),
              1.5);
    EXPECT_EQ(most("Started GET \"/\"\nCompleted 200 OK in 12ms (Views: 1.2ms)\nStarted GET \"/\"\nCompleted 200 OK in "
                   "40ms\n"),
              0.04);
    EXPECT_EQ(most("level=info status=200 duration=0.012s path=/x\nlevel=info status=200 duration=30ms path=/x\n"),
              0.03);
    EXPECT_EQ(most("[2026-01-01] INFO id=1 latency_ms=12.5\n[2026-01-01] INFO id=2 latency_ms=13.5\n"), 0.0135);
    EXPECT_EQ(most("64 bytes from h: icmp_seq=1 ttl=64 time=0.5 ms\n64 bytes from h: icmp_seq=2 ttl=64 time=20 ms\n"),
              0.02);
    EXPECT_EQ(most("[GIN] 2026/01/01 | 200 | 12.5ms | 10.0.0.1 | GET \"/\"\n[GIN] 2026/01/01 | 200 | 80\xC2\xB5s | "
                   "10.0.0.1 | GET \"/\"\n"),
              0.0125);
    EXPECT_EQ(most("     0.000 ( 0.012 ms): app/1 read(fd: 3, count: 4096)        = 4096\n"
                   "    40.000 ( 0.020 ms): app/1 read(fd: 3, count: 4096)        = 4096\n"),
              0.02e-3);
    EXPECT_EQ(most("1.1 read(3, \"a\", 4096) = 4096 <0.000120>\n1.2 read(3, \"a\", 4096) = 4096 <0.000080>\n"),
              0.00012);
}

TEST(LatencyLog, ProxiesAndJmeterAreKnown) {
    std::string const haproxy =
        "Jan  1 00:00:00 lb haproxy[1]: 10.0.0.1:5 [01/Jan/2026:00:00:00.001] in app/s1 0/0/1/10/";
    EXPECT_EQ(most(haproxy + "12 200 612 - - ---- 1/1/0/0/0 0/0 \"GET / HTTP/1.1\"\n" + haproxy +
                   "+90 200 612 - - ---- 1/1/0/0/0 0/0 \"GET / HTTP/1.1\"\n"),
              0.09);
    std::string const envoy = "[2026-01-01T00:00:00.000Z] \"GET /api HTTP/1.1\" ";
    auto const samples = read_latencies(envoy + "200 - 0 612 23 22 \"-\"\n" + envoy + "503 UF 0 612 99 22 \"-\"\n" +
                                        envoy + "200 - 0 612 30 22 \"-\"\n");
    EXPECT_EQ(samples.digest.values().most(), 0.03);
    EXPECT_EQ(dirt_of(samples, "failed request"), (DirtSeen{1, 2}));
    EXPECT_EQ(
        most("<testResults version=\"1.2\">\n<httpSample t=\"23\" it=\"0\" lt=\"22\" ts=\"1767225600000\" s=\"true\" "
             "lb=\"home\"/>\n"
             "<httpSample t=\"25\" it=\"0\" lt=\"24\" ts=\"1767225600037\" s=\"true\" lb=\"home\"/>\n</testResults>\n"),
        0.025);
}

/// Parameters of a request's address are no labels of its line.
TEST(LatencyLog, AddressesAreNoLabels) {
    std::string const line = "10.0.0.1 \"GET /x?duration=900&took=5 HTTP/1.1\" 200 path=/y?latency=700 rt=";
    EXPECT_EQ(most(line + "0.012\n" + line + "0.014\n"), 0.014);
}

TEST(LatencyLog, WaitsAndTimeoutsAreNoTimesOfRequests) {
    auto const samples = read_latencies("request a took 12ms\nreconnecting in 5s\nrequest b took 13ms\n");
    EXPECT_EQ(samples.digest.values().count(), 2U);
    EXPECT_EQ(samples.digest.values().most(), 0.013);
}

TEST(LatencyReports, LabelsNameStatisticAndMetric) {
    auto const triton =
        read_latencies("Request concurrency: 1\n  Client: \n    Request count: 1154\n    Throughput: 64.1 infer/sec\n"
                       "    Avg latency: 15600 usec (standard deviation 11200 usec)\n    p50 latency: 12100 usec\n"
                       "    p99 latency: 98700 usec\n");
    EXPECT_NEAR(stated(triton, 0.99), 0.0987, 1e-12);
    EXPECT_NEAR(triton.stated_mean, 0.0156, 1e-12);
    std::string const llmperf =
        "inter_token_latency_s\n    p50 = 0.007\n    p99 = 0.012\nttft_s\n    p50 = 0.0121\n    p99 = 0.0987\n"
        "request_output_throughput_token_per_s\n    p50 = 137.0\n    p99 = 150.0\n";
    EXPECT_EQ(stated(read_latencies(llmperf, {.column = "ttft_s"}), 0.99), 0.0987);
    expect_refused(llmperf, Fault::usage, "2 latencies in this report");
    auto const mlperf = read_latencies(
        "Min latency (ns)                : 3100000\n50.00 percentile latency (ns)   : 12100000\n"
        "99.90 percentile latency (ns)   : 300000000\n50.00 percentile first token latency (ns)   : 2100000\n"
        "99.90 percentile first token latency (ns)   : 100000000\n",
        {.column = "latency"});
    EXPECT_NEAR(stated(mlperf, 99.9 / 100.0), 0.3, 1e-12);
    auto const gatling = read_latencies(
        "> request count   1500 (OK=1500 KO=0)\n> mean response time   16 (OK=16 KO=-)\n"
        "> response time 50th percentile    12 (OK=12 KO=-)\n> response time 99th percentile   99 (OK=99 KO=-)\n");
    EXPECT_NEAR(stated(gatling, 0.99), 0.099, 1e-12);
    auto const sysbench =
        read_latencies("Latency (ms):\n         min:     3.10\n         avg:    15.60\n         max:   412.50\n"
                       "         95th percentile:   41.20\n         sum:   15600.00\n");
    EXPECT_NEAR(stated(sysbench, 0.95), 0.0412, 1e-12);
    auto const fio =
        read_latencies("    clat (usec): min=31, max=4125, avg=156.10, stdev=112.20\n    clat percentiles (usec):\n"
                       "     | 50.00th=[  121], 60.00th=[  135],\n     | 99.00th=[  987], 99.50th=[ 1500]\n");
    EXPECT_NEAR(stated(fio, 0.99), 0.000987, 1e-12);
    EXPECT_NEAR(fio.stated_mean, 0.0001561, 1e-12);
}

/// Where lines name their time, other lines with a time are none: the last one of ping states how long all of it took.
TEST(LatencyLog, SumsAtTheEndAreNoSamples) {
    auto const ping =
        read_latencies("64 bytes from h: icmp_seq=1 ttl=64 time=0.5 ms\n64 bytes from h: icmp_seq=2 ttl=64 time=20 ms\n"
                       "2 packets transmitted, 2 received, 0% packet loss, time 1001ms\n");
    EXPECT_EQ(ping.digest.values().count(), 2U);
    EXPECT_EQ(dirt_of(ping, "empty value"), (DirtSeen{1, 3}));
}

TEST(LatencyReports, SeveralFiguresStandInALine) {
    for (std::string const text :
         {"p50=12.1ms p99=98.7ms\n", "latency: p50 12.1ms p99 98.7ms\n", "p50: 12.1 ms, p99: 98.7 ms\n",
          "Throughput: 64 req/s\np50: 12.1 ms\np99: 98.7 ms\n"}) {
        EXPECT_NEAR(stated(read_latencies(text), 0.5), 0.0121, 1e-12) << text;
        EXPECT_NEAR(stated(read_latencies(text), 0.99), 0.0987, 1e-12) << text;
    }
}

TEST(LatencyReports, TablesWithinReportsAreFound) {
    auto const memtier =
        read_latencies("4         Threads\n\nALL STATS\n=====\n"
                       "Type         Ops/sec     Hits/sec    Avg. Latency     p50 Latency     p99 Latency\n-----\n"
                       "Sets         7272.00          ---         2.60000         2.40000         5.10000\n"
                       "Totals      80000.00     50000.00         2.51000         2.31000         5.02000\n");
    EXPECT_NEAR(stated(memtier, 0.99), 0.00502, 1e-12);
    auto const redis =
        read_latencies("  latency summary (msec):\n          avg       min       p50       p95       p99       max\n"
                       "        0.156     0.031     0.121     0.412     0.987     4.125\n");
    EXPECT_NEAR(stated(redis, 0.99), 0.000987, 1e-12);
    EXPECT_NEAR(redis.stated_mean, 0.000156, 1e-12);
}

TEST(LatencyJson, DocumentsStateMetricsAndLists) {
    std::string const llmperf =
        "{\n\"results_ttft_s_quantiles_p50\": 0.0121,\n\"results_ttft_s_quantiles_p99\": 0.0987,\n"
        "\"results_end_to_end_latency_s_quantiles_p50\": 0.121,\n\"results_end_to_end_latency_s_quantiles_p99\": "
        "0.987\n}\n";
    EXPECT_EQ(stated(read_latencies(llmperf, {.column = "ttft_s"}), 0.99), 0.0987);
    std::string const guidellm =
        "{\"benchmarks\":[{\"metrics\":{\"time_to_first_token_ms\":{\"successful\":{\"mean\":15.6,\"median\":12.1,"
        "\"percentiles\":{\"p99\":98.7,\"p999\":400}},\"total\":{\"median\":1,\"percentiles\":{\"p99\":2}}}}}]}";
    auto const first = read_latencies(guidellm, {.column = "time_to_first_token_ms"});
    EXPECT_NEAR(stated(first, 0.99), 0.0987, 1e-12);
    EXPECT_NEAR(stated(first, 99.9 / 100.0), 0.4, 1e-12);
    EXPECT_EQ(most("{\"latencies_ms\":[12.5,13.5]}"), 0.0135);
    EXPECT_EQ(most("{\"results\":[{\"latency_ms\":12,\"error\":null},{\"latency_ms\":99,\"error\":\"timeout\"},{"
                   "\"latency_ms\":13}]}"),
              0.013);
    std::string const jaeger =
        "{\"data\":[{\"spans\":[{\"operationName\":\"a\",\"startTime\":1767225600000000,\"duration\":12000}]},"
        "{\"spans\":[{\"operationName\":\"a\",\"startTime\":1767225600100000,\"duration\":13000}]}]}";
    EXPECT_NEAR(most(jaeger), 0.013, 1e-12);
    std::string const spans =
        "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":["
        "{\"startTimeUnixNano\":\"1767225600000000000\",\"endTimeUnixNano\":\"1767225600012000000\"},"
        "{\"startTimeUnixNano\":\"1767225600000000000\",\"endTimeUnixNano\":\"1767225600014000000\"}]}]}]}";
    EXPECT_NEAR(most(spans), 0.014, 1e-12);
    expect_refused("{\"results\":[{\"times\":[1.0,2.0]},{\"times\":[3.0,4.0]}]}", Fault::unreadable, "2 lists");
}

/// Writers whose unit no head states: seconds would be assumed.
TEST(LatencyJson, WritersStateTheirUnit) {
    EXPECT_NEAR(most("{\"traceId\":\"a\",\"timestamp\":1767225600000000,\"duration\":12000}\n"
                     "{\"traceId\":\"b\",\"timestamp\":1767225600000001,\"duration\":13000}\n"),
                0.013, 1e-12);
    EXPECT_EQ(most("{\"response_code\":200,\"response_flags\":\"-\",\"duration\":12}\n{\"response_code\":200,"
                   "\"duration\":13}\n"),
              0.013);
    EXPECT_EQ(most("{\"metrics\":{\"request_latency\":{\"value\":12.5,\"unit\":\"ms\"}}}\n"
                   "{\"metrics\":{\"request_latency\":{\"value\":13.5,\"unit\":\"ms\"}}}\n",
                   {.column = "metrics.request_latency.value"}),
              0.0135);
}

TEST(LatencyTables, WhatIsNoTimeIsNotTaken) {
    expect_refused("| model | ngl | test | t/s |\n|---|---|---|---|\n| llama | 99 | pp512 | 5000 \xC2\xB1 20 |\n| "
                   "llama | 99 | tg128 | 130 \xC2\xB1 1 |\n",
                   Fault::usage, "no column of times");
    expect_refused("% time     seconds  usecs/call     calls    errors syscall\n"
                   " 60.00    0.600000         600      1000           read\n"
                   " 40.00    0.400000         400      1000           write\n",
                   Fault::unreadable, "statistics");
    EXPECT_NEAR(most("0 1 12100 0 1767225600 5\n1 1 15600 0 1767225600 9\n"), 0.0156, 1e-12); // pgbench -l
    auto const triton = read_latencies("Concurrency,Inferences/Second,p50 latency,p99 latency\n1,64.1,12100,98700\n");
    EXPECT_NEAR(stated(triton, 0.99), 0.0987, 1e-12);
}

} // namespace
} // namespace headroom
